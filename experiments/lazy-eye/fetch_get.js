// Gets a URL once with fetch.
fetch(process.argv[2]).then((response) => response.arrayBuffer()).catch(() => process.exit(1));
