import type { IncomingMessage, ServerResponse } from 'node:http';

import { localhostHostValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';

import { ANY_PORT, startLoopbackServer, type LoopbackServer } from '../loopback-server.ts';
import { createAuthorizationServer, SCOPE } from './authorization-server.ts';
import { Notebook } from './notes.ts';
import { createNotesTools } from './tools.ts';

/** The path of the MCP endpoint; also in manifests/notes.yaml. */
const MCP_PATH = '/mcp';

/** RFC 9728, section 3.1. */
const METADATA_PATH = `/.well-known/oauth-protected-resource${MCP_PATH}`;

/**
 * Starts a sample MCP server with OAuth of its own, as those of services on the Internet have it: it takes only tokens
 * of its own authorization server, which is at the same origin.
 */
export function startNotesServer(): Promise<LoopbackServer> {
  const notebook = new Notebook();
  const isLocal = localhostHostValidation();
  return startLoopbackServer(ANY_PORT, async (origin) => {
    const authorizationServer = await createAuthorizationServer(origin);
    const resource = origin + MCP_PATH;
    const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const path = request.url?.split('?', 1)[0];
      if (path === METADATA_PATH) sendMetadata(response, resource, origin);
      else if (path !== MCP_PATH) await authorizationServer.handle(request, response);
      else {
        const [, token = ''] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? [];
        const account = await authorizationServer.accountOf(token, resource);
        if (account === undefined) challenge(response, origin);
        else await serveTools(request, response, notebook, account);
      }
    };
    return (request, response) => {
      // A page that binds its own name to 127.0.0.1 must not get around the gateway (DNS rebinding).
      if (isLocal(request, response)) serve(request, response).catch(() => response.destroy());
    };
  });
}

async function serveTools(
  request: IncomingMessage,
  response: ServerResponse,
  notebook: Notebook,
  account: string,
): Promise<void> {
  const mcp = createMcpHandler(() => createNotesTools(notebook, account));
  const { method = 'GET', url = '/' } = request;
  await toNodeHandler(mcp)(Object.assign(request, { method, url }), response);
}

function sendMetadata(response: ServerResponse, resource: string, issuer: string): void {
  const metadata = { resource, authorization_servers: [issuer], scopes_supported: [SCOPE] };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata));
}

function challenge(response: ServerResponse, origin: string): void {
  const value = `Bearer resource_metadata="${origin}${METADATA_PATH}"`;
  response.writeHead(401, { 'www-authenticate': value }).end();
}
