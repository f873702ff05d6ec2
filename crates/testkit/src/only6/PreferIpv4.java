import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URL;

/**
 * Fetches a URL with the sockets of IPv4 alone.
 *
 * <pre>java PreferIpv4 URL</pre>
 */
public final class PreferIpv4 {
    private static final int TIMEOUT = 5000; // milliseconds
    private static final int LENGTH = 1000; // bytes

    private PreferIpv4() {}

    public static void main(String[] arguments) {
        // Before the first class of java.net, which reads it once.
        System.setProperty("java.net.preferIPv4Stack", "true");
        try {
            fetch(arguments[0]);
        } catch (IOException | RuntimeException error) {
            fail(error.toString());
        }
    }

    private static void fetch(String url) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) new URL(url).openConnection(Proxy.NO_PROXY);
        connection.setConnectTimeout(TIMEOUT);
        connection.setReadTimeout(TIMEOUT);
        int status = connection.getResponseCode();
        if (status != 200) {
            fail("status " + status);
        }
        try (InputStream body = connection.getInputStream()) {
            int length = body.readAllBytes().length;
            if (length != LENGTH) {
                fail(length + " bytes");
            }
        }
    }

    private static void fail(String reason) {
        System.err.println("PreferIpv4: " + reason.lines().findFirst().orElse(""));
        System.exit(1);
    }
}
