# WEBrick with its own access log, on standard error: hello.rb HOST PORT FOLDER
host, port, folder = ARGV
server = WEBrick::HTTPServer.new(BindAddress: host, Port: port.to_i, DocumentRoot: folder)
trap("TERM") { server.shutdown }
server.start
