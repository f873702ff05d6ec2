# For puma. A line for each request.
$stdout.sync = true
HELLO = "hello, world\n".freeze
run lambda { |env|
  puts "#{env["REMOTE_ADDR"]} #{env["PATH_INFO"]}"
  [200, { "content-type" => "text/plain", "content-length" => HELLO.bytesize.to_s }, [HELLO]]
}
