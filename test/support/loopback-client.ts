import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { OAuthClientProvider as ModernProvider } from '@modelcontextprotocol/client';
import type { OAuthClientProvider as ClassicProvider } from '@modelcontextprotocol/sdk/client/auth.js';

/** The interface that both generations of the official SDK need for a client's OAuth side. */
type Provider = ModernProvider & ClassicProvider;
type ClientInformation = Awaited<ReturnType<Provider['clientInformation']>>;
type Tokens = Awaited<ReturnType<Provider['tokens']>>;

/** The OAuth side of a native MCP client: stores everything in memory, and listens for its redirect. */
export interface LoopbackClient extends AsyncDisposable {
  readonly provider: Provider;
  /** URL that the SDK opens for the user; resolves when the SDK requests it. */
  readonly authorizationUrl: Promise<URL>;
  /** Parameters of the redirect; resolves when the browser arrives. */
  readonly callback: Promise<URLSearchParams>;
  /** Tokens that the SDK saved last. */
  tokens(): Tokens;
}

/** Starts a client with a callback server on a free port, as native clients do (RFC 8252, 7.3). */
export async function startLoopbackClient(clientName: string): Promise<LoopbackClient> {
  const authorizationUrl = Promise.withResolvers<URL>();
  const callback = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    callback.resolve(new URL(request.url ?? '/', 'http://localhost').searchParams);
    response.setHeader('content-type', 'text/html');
    response.end('<title>Done</title><h1>You can close this window</h1>');
  });
  const redirectUrl = `http://127.0.0.1:${String(await listen(server))}/callback`;

  let clientInformation: ClientInformation;
  let tokens: Tokens;
  let verifier = '';
  let discovery: Awaited<ReturnType<NonNullable<ModernProvider['discoveryState']>>>;
  const provider: Provider = {
    redirectUrl,
    clientMetadata: {
      client_name: clientName,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => clientInformation,
    saveClientInformation: (saved: ClientInformation) => void (clientInformation = saved),
    tokens: () => tokens,
    saveTokens: (saved: Tokens) => void (tokens = saved),
    redirectToAuthorization: (url) => authorizationUrl.resolve(url),
    saveCodeVerifier: (saved) => void (verifier = saved),
    codeVerifier: () => verifier,
    saveDiscoveryState: (saved) => void (discovery = saved),
    discoveryState: () => discovery,
  };
  return {
    provider,
    authorizationUrl: authorizationUrl.promise,
    callback: callback.promise,
    tokens: () => tokens,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server has an address of this type.
  return (server.address() as AddressInfo).port;
}
