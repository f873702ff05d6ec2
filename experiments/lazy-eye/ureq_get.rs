//! Gets a URL once with ureq.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).ok_or("no URL")?;
    ureq::get(&url).call()?.into_body().read_to_vec()?;
    Ok(())
}
