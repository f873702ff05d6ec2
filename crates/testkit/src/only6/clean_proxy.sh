#!/bin/sh
# Passes each GET to a backend, whose name nginx resolves when it starts.
#
#     clean_proxy.sh PORT BACKEND_URL
set -eu
PATH=$PATH:/usr/sbin

port=$1 backend=${2%/}
folder=$(mktemp -d "$(realpath "$(dirname "$0")")/nginx.XXXXXX")

# A resolver that nginx asks at each request would not do: it also tries the addresses of a family
# whose sockets the host can't open, and answers 500 then. getaddrinfo at start omits these addresses.
write_config() {
    cat >"$folder/nginx.conf" <<END
daemon off;
master_process off;
pid $folder/pid;
error_log $folder/error.log;
events {}
http {
    access_log off;
    client_body_temp_path $folder/body;
    proxy_temp_path $folder/proxy;
    fastcgi_temp_path $folder/fastcgi;
    uwsgi_temp_path $folder/uwsgi;
    scgi_temp_path $folder/scgi;
    server {
        listen $1;
        location / {
            proxy_pass $backend;
            proxy_connect_timeout 5s;
        }
    }
}
END
}

# A host without IPv6 can't open the first of them.
write_config "[::]:$port ipv6only=off"
nginx -q -t -e "$folder/error.log" -c "$folder/nginx.conf" 2>"$folder/test.log" || write_config "0.0.0.0:$port"
exec nginx -e "$folder/error.log" -c "$folder/nginx.conf"
