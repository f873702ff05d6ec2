//! Gets a URL once with hyper's client of the crate hyper-util.

use http_body_util::{BodyExt as _, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).ok_or("no URL")?.parse()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client: Client<_, Empty<&[u8]>> = Client::builder(TokioExecutor::new()).build_http();
        client.get(url).await?.into_body().collect().await?;
        Ok(())
    })
}
