#!/bin/sh
# Passes each GET to a backend, whose name nginx resolves at each request, for A records alone.
#
#     nginx_resolver.sh PORT BACKEND_URL
set -eu
PATH=$PATH:/usr/sbin

port=$1 backend=${2%/}
folder=$(mktemp -d "$(realpath "$(dirname "$0")")/nginx.XXXXXX")
resolver=$(awk '$1 == "nameserver" { print $2; exit }' /etc/resolv.conf)
case $resolver in
*:*) resolver="[$resolver]" ;;
"") resolver=127.0.0.1 ;; # unused if the backend is an address
esac

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
    resolver $resolver ipv6=off;
    server {
        listen $1;
        location / {
            set \$backend "$backend";
            proxy_pass \$backend;
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
