// Fetches a URL, whose port begins at the first colon of its authority.
//
//     colon.js URL
"use strict";

const http = require("node:http");

const TIMEOUT = 5000; // milliseconds
const LENGTH = 1000; // bytes

function fail(reason) {
  console.error(`colon: ${reason}`);
  process.exit(1);
}

function check(response) {
  let length = 0;
  response.on("data", (piece) => (length += piece.length));
  response.on("end", () => {
    if (response.statusCode !== 200 || length !== LENGTH) {
      fail(`status ${response.statusCode}, ${length} bytes`);
    }
  });
  response.on("error", (error) => fail(error.message));
}

function get(url) {
  const [, , authority, ...path] = url.split("/");
  const [host, port] = authority.split(":");
  const request = http.get({
    host,
    port: port || 80,
    path: "/" + path.join("/"),
    headers: { Host: authority },
    autoSelectFamily: true, // the default since Node 20
    agent: false,
    timeout: TIMEOUT, // also of connecting
  });
  request.on("timeout", () => fail("timeout"));
  request.on("response", check);
  request.on("error", (error) => fail(error.message || error.code));
}

try {
  get(process.argv[2]);
} catch (error) {
  fail(error.message);
}
