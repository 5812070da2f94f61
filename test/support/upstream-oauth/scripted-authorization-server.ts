import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

import { startHttpsServer } from '../https-server.ts';
import { startUpstream } from '../upstream.ts';

/** What a scripted server is asked for. */
export type ScriptedEndpoint = keyof typeof PATHS;

/** A response, sent as it is; a body that is not a text is sent as JSON. */
export interface ScriptedReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A request to a scripted server. */
export interface ScriptedRequest {
  readonly url: URL;
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: string;
}

/** Makes a reply from the right one; `hang` sends none, or what the script wrote itself. */
export type Script = (request: ScriptedRequest, right: ScriptedReply) => ScriptedReply | 'hang';

/**
 * An MCP server and its authorization server on one origin that do everything right, as far as no test
 * says otherwise. Nobody signs in here: authorization requests are granted at once.
 */
export interface ScriptedAuthorizationServer extends AsyncDisposable {
  readonly origin: string;
  /** The MCP endpoint. It accepts every token that this server issued. */
  readonly url: string;
  /** The authority of its certificate, in PEM, if it is on https. */
  readonly ca: string | undefined;
  /** Access tokens that were issued so far, the newest last. */
  readonly issued: readonly string[];
  /** Requests to each endpoint so far. */
  requestsTo(endpoint: ScriptedEndpoint): readonly ScriptedRequest[];
  /** Serves an endpoint by a script from now on; undefined makes it right again. */
  script(endpoint: ScriptedEndpoint, script: Script | undefined): void;
}

const NOT_FOUND: ScriptedReply = { status: 404, headers: {}, body: '' };

const PATHS = {
  mcp: '/mcp',
  resourceMetadata: '/.well-known/oauth-protected-resource/mcp',
  metadata: '/.well-known/oauth-authorization-server',
  authorization: '/authorize',
  registration: '/register',
  token: '/token',
  revocation: '/revoke',
} as const;

/** Starts a server at `http://localhost:PORT`, or on https under this name. */
export async function startScriptedAuthorizationServer(
  host?: string,
): Promise<ScriptedAuthorizationServer> {
  const issued: string[] = [];
  const received = new Map<string, ScriptedRequest[]>();
  const scripts = new Map<string, Script>();
  const listener: RequestListener = (message, response) => {
    void text(message).then((body) => {
      const url = new URL(message.url ?? '/', origin);
      const request = { url, message, response, body };
      received.set(url.pathname, [...(received.get(url.pathname) ?? []), request]);
      const right = rightReply(request);
      const reply = scripts.get(url.pathname)?.(request, right) ?? right;
      if (reply === 'hang') return;
      const { status = 200, headers = { 'content-type': 'application/json' } } = reply;
      response.writeHead(status, headers);
      response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body));
    });
  };
  const server = await listen(listener, host);
  const { origin } = server;
  const replies = rightReplies(origin, issued);

  function rightReply(request: ScriptedRequest): ScriptedReply {
    const endpoint = Object.entries(PATHS).find(([, path]) => path === request.url.pathname)?.[0];
    // Keys of PATHS.
    return endpoint === undefined ? NOT_FOUND : replies[endpoint as ScriptedEndpoint](request);
  }

  return {
    origin,
    url: origin + PATHS.mcp,
    ca: server.ca,
    issued,
    requestsTo: (endpoint) => received.get(PATHS[endpoint]) ?? [],
    script(endpoint, script) {
      if (script === undefined) scripts.delete(PATHS[endpoint]);
      else scripts.set(PATHS[endpoint], script);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

interface Listening extends AsyncDisposable {
  readonly origin: string;
  readonly ca: string | undefined;
}

async function listen(listener: RequestListener, host: string | undefined): Promise<Listening> {
  if (host === undefined) {
    const server = await startUpstream(listener);
    const close = () => server[Symbol.asyncDispose]();
    const origin = `http://localhost:${String(server.port)}`;
    return { origin, ca: undefined, [Symbol.asyncDispose]: close };
  }
  const server = await startHttpsServer([host], listener);
  const close = () => server[Symbol.asyncDispose]();
  return { origin: server.url(host, ''), ca: server.ca, [Symbol.asyncDispose]: close };
}

function rightReplies(
  origin: string,
  issued: string[],
): Readonly<Record<ScriptedEndpoint, (request: ScriptedRequest) => ScriptedReply>> {
  return {
    mcp: ({ message: { headers } }) => {
      const token = headers.authorization?.replace(/^Bearer /, '') ?? '';
      if (issued.includes(token)) return { body: { jsonrpc: '2.0', id: 1, result: {} } };
      const challenge = `Bearer resource_metadata="${origin}${PATHS.resourceMetadata}"`;
      return { status: 401, headers: { 'www-authenticate': challenge }, body: '' };
    },
    resourceMetadata: () => ({
      body: { resource: origin + PATHS.mcp, authorization_servers: [origin] },
    }),
    metadata: () => ({
      body: {
        issuer: origin,
        authorization_endpoint: origin + PATHS.authorization,
        token_endpoint: origin + PATHS.token,
        registration_endpoint: origin + PATHS.registration,
        revocation_endpoint: origin + PATHS.revocation,
        response_types_supported: ['code'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        authorization_response_iss_parameter_supported: true,
      },
    }),
    authorization: ({ url: { searchParams } }) => {
      const location = new URL(searchParams.get('redirect_uri') ?? origin);
      location.searchParams.set('code', randomUUID());
      location.searchParams.set('state', searchParams.get('state') ?? '');
      location.searchParams.set('iss', origin);
      return { status: 302, headers: { location: location.href }, body: '' };
    },
    registration: ({ body }) => ({
      status: 201,
      // RFC 7591, section 3.2.1: all registered metadata are returned.
      body: { ...(JSON.parse(body) as object), client_id: randomUUID() },
    }),
    token: () => {
      const token = randomUUID();
      issued.push(token);
      return {
        body: {
          access_token: token,
          token_type: 'Bearer',
          expires_in: 3600,
          refresh_token: randomUUID(),
        },
      };
    },
    revocation: () => ({ body: '' }),
  };
}
