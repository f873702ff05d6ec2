"""Gets a URL once with aiohttp, as its documentation's first example does."""

import asyncio
import sys

import aiohttp


async def main(url):
    async with aiohttp.ClientSession() as session:
        async with session.get(url) as response:
            await response.read()


asyncio.run(main(sys.argv[1]))
