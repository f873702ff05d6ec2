//! Gets a URL once with reqwest.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).ok_or("no URL")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        reqwest::get(url).await?.bytes().await?;
        Ok(())
    })
}
