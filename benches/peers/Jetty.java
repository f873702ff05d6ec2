import java.util.List;
import java.util.stream.Collectors;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.AbstractHandler;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Serves "/" (13 bytes) in plain text on each address given, HTTP/1.1 and HTTP/2, until it is killed. */
public class Jetty {
    private static final byte[] CONTENT = "hello, world\n".getBytes();

    public static void main(String[] addresses) throws Exception {
        Server server = new Server(new QueuedThreadPool(16, 4));
        for (String address : addresses) {
            HttpConfiguration config = new HttpConfiguration();
            ServerConnector connector = new ServerConnector(server, 1, 1,
                new HttpConnectionFactory(config), new HTTP2CServerConnectionFactory(config));
            connector.setHost(address);
            connector.setAcceptQueueSize(4096);
            server.addConnector(connector);
        }
        server.setHandler(new Hello());
        server.start();
        // The bench reads this line: the ports in the order of the addresses.
        System.out.println(List.of(server.getConnectors()).stream()
            .map(connector -> Integer.toString(((ServerConnector) connector).getLocalPort()))
            .collect(Collectors.joining(" ")));
        server.join();
    }

    private static class Hello extends AbstractHandler {
        @Override
        public void handle(String target, Request base, HttpServletRequest request,
                HttpServletResponse response) throws java.io.IOException {
            response.setContentLength(CONTENT.length);
            response.getOutputStream().write(CONTENT);
            base.setHandled(true);
        }
    }
}
