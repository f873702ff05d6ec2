import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

/** Gets a URL once with java.net.http, over HTTP/1.1 without an upgrade. */
public final class Get {
    private Get() {}

    public static void main(String[] arguments) throws Exception {
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        HttpRequest request = HttpRequest.newBuilder(URI.create(arguments[0])).build();
        client.send(request, BodyHandlers.discarding());
    }
}
