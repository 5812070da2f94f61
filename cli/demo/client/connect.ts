import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';

import { ClientAuthorization, type ShowSignIn } from './authorization.ts';
import { startCallbackServer } from './callback-server.ts';

const SIGN_IN_TIMEOUT_MS = 10 * 60_000;

/**
 * Connects to an MCP server, and signs the user in if the server asks for it. The SDK does discovery,
 * registration, authorization code with PKCE, and the token request.
 */
export async function connect(serverUrl: URL, showSignIn: ShowSignIn): Promise<Client> {
  await using callbackServer = await startCallbackServer();
  const authProvider = new ClientAuthorization(callbackServer.redirectUrl, showSignIn);
  const attempt = async (): Promise<Client> => {
    const client = new Client(
      { name: 'gatehouse-demo-client', version: '1.0.0' },
      { versionNegotiation: { mode: 'auto' } },
    );
    await client.connect(new StreamableHTTPClientTransport(serverUrl, { authProvider }));
    return client;
  };
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
  }
  const signal = AbortSignal.timeout(SIGN_IN_TIMEOUT_MS);
  const callback = await callbackServer.waitForCallback(signal);
  if (!authProvider.isOwn(callback)) throw new Error('the callback is for another sign-in');
  const transport = new StreamableHTTPClientTransport(serverUrl, { authProvider });
  await transport.finishAuth(callback);
  return await attempt();
}
