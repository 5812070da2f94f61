import { localhostHostValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';

import { startLoopbackServer, type LoopbackServer } from '../loopback-server.ts';
import type { WantedPort } from '../demo-flags.ts';
import { createAssertionReader } from './assertion-reader.ts';
import { InvoiceBook } from './invoices.ts';
import { createToolServer } from './tools.ts';

/** The path of the MCP endpoint; also in manifests/route.yaml. */
const MCP_PATH = '/mcp';

/**
 * Starts the sample MCP server, of both protocol eras, on the official SDK.
 *
 * It signs nobody in, and allows everything that the gateway at `gatewayOrigin` forwards.
 */
export function startMcpServer(listen: WantedPort, gatewayOrigin: string): Promise<LoopbackServer> {
  const invoices = new InvoiceBook();
  const readAssertion = createAssertionReader(gatewayOrigin);
  const mcp = createMcpHandler(({ requestInfo }) =>
    createToolServer({
      invoices,
      readAssertion,
      assertion: requestInfo?.headers.get('x-gateway-assertion') ?? null,
    }),
  );
  const handle = toNodeHandler(mcp);
  const isLocal = localhostHostValidation();
  return startLoopbackServer(listen, () => (request, response) => {
    // A page that binds its own name to 127.0.0.1 must not get around the gateway (DNS rebinding).
    if (!isLocal(request, response)) return;
    const { method = 'GET', url = '/' } = request;
    if (url.split('?', 1)[0] !== MCP_PATH) {
      response.writeHead(404).end();
      return;
    }
    handle(Object.assign(request, { method, url }), response).catch(() => response.destroy());
  });
}
