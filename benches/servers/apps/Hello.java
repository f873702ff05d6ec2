import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** The JDK's own server, with a line for each request: Hello PORT6 PORT4. */
public class Hello {
    private static final byte[] HELLO = "hello, world\n".getBytes();

    public static void main(String[] ports) throws IOException {
        String[] hosts = {"::1", "127.0.0.1"};
        for (int at = 0; at < hosts.length; at++) {
            var end = new InetSocketAddress(hosts[at], Integer.parseInt(ports[at]));
            var server = HttpServer.create(end, 0);
            server.setExecutor(Executors.newFixedThreadPool(16));
            server.createContext("/hello", Hello::answer);
            server.start();
        }
    }

    private static void answer(HttpExchange exchange) throws IOException {
        String from = exchange.getRemoteAddress().getAddress().getHostAddress();
        System.out.println(from.replace("0:0:0:0:0:0:0:1", "::1") + " " + exchange.getRequestURI());
        exchange.sendResponseHeaders(200, HELLO.length);
        try (var body = exchange.getResponseBody()) {
            body.write(HELLO);
        }
    }
}
