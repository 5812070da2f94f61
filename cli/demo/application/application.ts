import type { IncomingMessage } from 'node:http';

import type { GatewayResponse } from '../../../proxy/http/gateway-response.ts';
import { readForm } from '../../../proxy/http/read-form.ts';
import { seeOther } from '../../../proxy/http/responses.ts';
import { describeError } from '../../../shared/telemetry/describe-error.ts';
import { ANY_PORT, startLoopbackServer, type LoopbackServer } from '../loopback-server.ts';
import { createAssertionReader, type AssertionReader } from '../mcp-server/assertion-reader.ts';
import { sendPage } from '../pages-of-servers.ts';
import { visitServer } from './call-server.ts';
import { GatewayApi } from './gateway-api.ts';
import { failurePage, overviewPage, SERVER_FIELD, visitPage } from './pages.ts';

const BAD_GATEWAY = 502;

/**
 * Starts the sample application, which is behind the gateway at `origin`. It has no sign-in and no OAuth: the gateway
 * sends a token of the user with each request.
 */
export function startApplication(origin: string): Promise<LoopbackServer> {
  const readAssertion = createAssertionReader(origin);
  return startLoopbackServer(ANY_PORT, () => (request, response) => {
    answer(request, origin, readAssertion).then(
      (page) => sendPage(response, page),
      (error: unknown) => sendPage(response, failurePage(BAD_GATEWAY, describeError(error))),
    );
  });
}

async function answer(
  request: IncomingMessage,
  origin: string,
  readAssertion: AssertionReader,
): Promise<GatewayResponse> {
  const { authorization } = request.headers;
  if (authorization === undefined) return failurePage(401, 'The request has no token.');
  const { pathname, searchParams } = new URL(request.url ?? '/', origin);
  const gateway = new GatewayApi(origin, authorization);
  if (request.method === 'POST') {
    // Attack: a page of another port of localhost, which is the same site, posts the form.
    if (request.headers.origin !== origin) return failurePage(403, 'The form is of another page.');
    const url = (await readForm(request)).get(SERVER_FIELD) ?? '';
    return act(pathname, url, gateway, authorization);
  }
  if (pathname !== '/') return failurePage(404, 'There is no such page.');
  const { name, email } = await readAssertion(String(request.headers['x-gateway-assertion']));
  return overviewPage({
    userName: [name, email].find((each) => typeof each === 'string') ?? 'stranger',
    servers: await gateway.servers(),
    returnUrl: `${origin}/`,
    connectError: searchParams.get('connect_error'),
  });
}

async function act(
  path: string,
  url: string,
  gateway: GatewayApi,
  authorization: string,
): Promise<GatewayResponse> {
  if (path === '/disconnect') {
    await gateway.disconnect(url);
    return seeOther('/');
  }
  // The token goes to MCP servers of the gateway only, and not where a form says.
  const isListed = (await gateway.servers()).some((server) => server.url === url);
  if (path !== '/call' || !isListed) return failurePage(404, 'There is no such server.');
  return visitPage(url, await visitServer(url, authorization));
}
