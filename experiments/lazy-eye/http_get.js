// Gets a URL once with the module http.
const { get } = require("node:http");

get(process.argv[2], (response) => response.resume()).on("error", () => process.exit(1));
