import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';

import { startUpstream, type Upstream } from '../upstream.ts';
import type { TokenFacts } from './authorization-server.ts';

/** How an MCP server that wants a token tells clients where to get one. */
export interface ProtectedMcpServerOptions {
  /** Issuers of the authorization servers, in the order of the metadata. */
  readonly authorizationServers: readonly string[];
  /** Returns what a token stands for; null if it is not valid. */
  readonly verify: (accessToken: string) => Promise<TokenFacts | null>;
  /**
   * Where the metadata are, which the 401 challenge names. Defaults to the path of RFC 9728 for the path of the
   * endpoint; null: there are none.
   */
  readonly metadataPath?: string | null;
  /** `scope` of the 401 challenge; absent, it has none. */
  readonly challengedScope?: string;
  /** Where clients find it, if something before it terminates TLS. Defaults to `http://localhost:PORT`. */
  readonly origin?: string;
}

/** What a test can make the server do with a request that has a valid token. */
export type Verdict = 'accept' | 'unauthorized' | 'insufficient-scope';

/** An MCP server of both eras, on the official SDK, that serves nobody without a token. */
export interface ProtectedMcpServer extends AsyncDisposable {
  readonly origin: string;
  /** The MCP endpoint, which is also the resource that tokens are for. */
  readonly url: string;
  readonly upstream: Upstream;
  /** `Authorization` of every request to the endpoint so far; undefined if there was none. */
  authorizations(): readonly (string | undefined)[];
  /** Returns how often the metadata were requested, where they are and where they are not. */
  metadataRequests(): number;
  /** Changes the metadata before they are sent. */
  changeMetadata: (metadata: object) => object;
  /** Decides on requests with a valid token. */
  judge: (token: TokenFacts) => Verdict;
}

/** The path of the endpoint. */
export const MCP_PATH = '/mcp';
const METADATA = '/.well-known/oauth-protected-resource';
/** The tool that needs the scope `admin`. */
export const ADMIN_TOOL = 'delete_report';

/**
 * Starts a server at `/mcp` with the tools `whoami`, which returns what the token
 * stands for, and `delete_report`, which is refused with `insufficient_scope` without the scope `admin`.
 */
export async function startProtectedMcpServer(
  options: ProtectedMcpServerOptions,
): Promise<ProtectedMcpServer> {
  const { metadataPath = METADATA + MCP_PATH, verify } = options;
  const upstream = await startUpstream((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  const { origin = `http://localhost:${String(upstream.port)}` } = options;
  const url = origin + MCP_PATH;
  let metadataRequests = 0;

  function metadata(): object {
    return server.changeMetadata({
      resource: url,
      authorization_servers: options.authorizationServers,
      scopes_supported: ['read', 'write'],
    });
  }

  function challenge(
    response: ServerResponse,
    status: number,
    error: string,
    scope?: string,
  ): void {
    const parameters = [
      ...(error === '' ? [] : [`error="${error}"`]),
      ...(scope === undefined ? [] : [`scope="${scope}"`]),
      ...(metadataPath !== null ? [`resource_metadata="${origin}${metadataPath}"`] : []),
    ];
    const value = ['Bearer', parameters.join(', ')].filter((part) => part !== '').join(' ');
    response.writeHead(status, { 'www-authenticate': value }).end();
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split('?', 1)[0] ?? '/';
    if (path.startsWith(METADATA)) metadataRequests += 1;
    if (path === metadataPath) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(metadata()));
      return;
    }
    if (path !== MCP_PATH) {
      response.writeHead(404).end();
      return;
    }
    const body = (await buffer(request)).toString();
    const token = await tokenOf(request);
    const verdict = token === null ? 'unauthorized' : server.judge(token);
    if (token === null || verdict === 'unauthorized') {
      const error = request.headers.authorization === undefined ? '' : 'invalid_token';
      challenge(response, 401, error, options.challengedScope);
    } else if (verdict === 'insufficient-scope' || needsMoreScope(token, body)) {
      challenge(response, 403, 'insufficient_scope', 'admin');
    } else await serveMcp(request, response, { body, token });
  }

  async function tokenOf({ headers: { authorization = '' } }: IncomingMessage) {
    const [, accessToken] = /^Bearer (\S+)$/.exec(authorization) ?? [];
    const facts = accessToken === undefined ? null : await verify(accessToken);
    // RFC 8707, section 4: a token for another resource is not for this server.
    return facts?.audience !== undefined && facts.audience !== url ? null : facts;
  }

  const server: ProtectedMcpServer = {
    origin,
    url,
    upstream,
    authorizations: () =>
      upstream.requests
        .filter(({ message }) => message.url === MCP_PATH)
        .map(({ message }) => message.headers.authorization),
    metadataRequests: () => metadataRequests,
    changeMetadata: (unchanged) => unchanged,
    judge: () => 'accept',
    [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
  };
  return server;
}

function needsMoreScope({ scopes }: TokenFacts, body: string): boolean {
  return body.includes(`"${ADMIN_TOOL}"`) && !scopes.includes('admin');
}

async function serveMcp(
  request: IncomingMessage,
  response: ServerResponse,
  { body, token }: { readonly body: string; readonly token: TokenFacts },
): Promise<void> {
  const mcp = createMcpHandler(() => createServer(token));
  const { method = 'GET', url = '/' } = request;
  const parsed: unknown = body === '' ? undefined : JSON.parse(body);
  await toNodeHandler(mcp)(Object.assign(request, { method, url }), response, parsed);
}

function createServer(token: TokenFacts): McpServer {
  const server = new McpServer({ name: 'protected', version: '1.0.0' });
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
  server.registerTool('whoami', {}, () => text(JSON.stringify(token)));
  server.registerTool(ADMIN_TOOL, {}, () => text('deleted'));
  return server;
}
