import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** Runs DynamoDB Local on any free port of the loopback interface: its own command listens on all interfaces. */
public class LoopbackDynamoDb {
  public static void main(String[] options) throws Exception {
    DynamoDBProxyServer proxy = ServerRunner.createServerFromCommandLineArgs(options);
    var field = DynamoDBProxyServer.class.getDeclaredField("server");
    field.setAccessible(true);
    var connector = (ServerConnector) ((Server) field.get(proxy)).getConnectors()[0];
    connector.setHost("127.0.0.1");
    connector.setPort(0);
    proxy.start();
    System.out.println("listening on 127.0.0.1:" + connector.getLocalPort());
    proxy.join();
  }
}
