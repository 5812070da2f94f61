import { connect, type ClientHttp2Session } from 'node:http2';
import { connect as connectTls } from 'node:tls';

import { expect, test } from '@jest/globals';
import { parseSetCookie } from 'cookie';

import { BrowserJar } from '../../support/browser-jar.ts';
import { aCompiledCertificate, aSnapshot } from '../../support/compiled-resources.ts';
import { compiledSettings } from '../../support/compiled-settings.ts';
import { compileManifests } from '../../support/gateway.ts';
import { startGatewayWithUsers } from '../../support/gateway-with-users.ts';
import { answerOn, type Http2Answer } from '../../support/http2/http2-client.ts';
import { emptyResult } from '../../support/mcp-route.ts';
import { headerOf } from '../../support/raw-http.ts';
import { createThrowawayAuthority } from '../../support/throwaway-authority.ts';
import { startUpstream } from '../../support/upstream.ts';

const AUTHORITY = createThrowawayAuthority();
const CERTIFICATE = aCompiledCertificate('test/all', ['*.example.com'], AUTHORITY);

test('a user signs in over HTTP/2, and an MCP client calls with a token', async () => {
  await using stack = new AsyncDisposableStack();
  const upstream = stack.use(await startUpstream(emptyResult));
  const users = stack.use(await startGatewayWithUsers({}, { introspection: true }));
  let accessToken = '';
  users.identityProvider.changeTokens = (response) => {
    accessToken = String(response['access_token']);
    return response;
  };
  const { gateway } = users.gateway;
  await gateway.apply(aSnapshot(compiledSettings(), CERTIFICATE));
  const [, secure] = await gateway.listen([
    { host: '127.0.0.1', port: 0 },
    { host: '127.0.0.1', port: 0, isTls: true },
  ]);
  const port = secure?.port ?? 0;
  const originOf = (name: string): string => `https://${name}.example.com:${String(port)}`;
  const route = { to: upstream.origin, allowAnyAuthenticatedUser: true };
  const mcp = { mcp: { server: {} }, bearerTokenFormat: 'idp_access_token' } as const;
  await users.configure({
    people: { ...route, from: originOf('people') },
    mcp: { ...route, ...mcp, from: originOf('mcp') },
  });
  const served = [...compileManifests(users.manifests()).resources.values()].map(({ value }) =>
    value.kind === 'settings' ? { ...value, defaultCertificate: CERTIFICATE.name } : value,
  );
  await gateway.apply(aSnapshot(...served, CERTIFICATE));

  using client = openHttp2(port);
  const first = await client.get(originOf('people'));
  expect(first.status).toBe(303);
  const signIn = new URL(String(first.headers['location']));
  // The gateway's sign-in leads to the provider.
  const begun = signIn.origin === originOf('people') ? await client.get(signIn.href) : first;
  const provider = new BrowserJar();
  const stopAt = (url: string): boolean => url.startsWith('https:');
  const form = await provider.open(String(begun.headers['location']));
  const { headers } = await provider.submit(form, { login: 'alice' }, { stopAt });
  const signedIn = await client.get(String(headers.location));
  expect(signedIn.status).toBe(303);
  for (const line of cookieLines(signedIn)) expect(line).toMatch(/^__Host-.*; Secure/);
  const before = upstream.requests.length;
  expect((await client.get(originOf('people'))).status).toBe(200);
  expect(headerOf(await upstream.request(before), 'x-forwarded-proto')).toBe('https');

  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const call = (token: string): Promise<Http2Answer> =>
    client.post(originOf('mcp'), ping, { authorization: `Bearer ${token}` });
  expect((await call(accessToken)).status).toBe(200);
  const refused = await call('unknown');
  expect(refused.status).toBe(401);
  expect(refused.headers['www-authenticate']).toContain(originOf('mcp'));
  // The cookie is of another host.
  expect((await client.post(originOf('mcp'), ping, {})).status).toBe(401);
});

/** Node lists the lines of this field. */
function cookieLines({ headers }: Http2Answer): readonly string[] {
  return (headers['set-cookie'] ?? []) as readonly string[];
}

type Fields = Readonly<Record<string, string>>;

interface UserOfHttp2 extends Disposable {
  get(url: string): Promise<Http2Answer>;
  post(url: string, body: string, fields: Fields): Promise<Http2Answer>;
}

/** Makes all requests on one connection, with the cookies of one host, each in a field of its own. */
function openHttp2(port: number): UserOfHttp2 {
  const session: ClientHttp2Session = connect('https://people.example.com', {
    createConnection: () =>
      connectTls({
        ...{ host: '127.0.0.1', port, servername: 'people.example.com', ca: AUTHORITY.ca },
        ALPNProtocols: ['h2'],
      }),
  });
  const cookies = new Map<string, string>();
  const open = (url: string, fields: Fields, hasBody: boolean) => {
    const { host, pathname, search } = new URL(url);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`);
    const pseudo = { ':authority': host, ':path': pathname + search };
    const isForPeople = host.startsWith('people.');
    const head = { ...pseudo, ...fields, ...(isForPeople && cookie.length > 0 && { cookie }) };
    return session.request(head, { endStream: !hasBody });
  };
  return {
    async get(url) {
      const page = { accept: 'text/html', 'sec-fetch-mode': 'navigate' };
      const answer = await answerOn(open(url, page, false));
      for (const line of cookieLines(answer)) {
        const { name, value = '' } = parseSetCookie(line);
        if (value === '') cookies.delete(name);
        else cookies.set(name, value);
      }
      return answer;
    },
    post(url, body, fields) {
      const accept = 'application/json, text/event-stream';
      const type = { accept, 'content-type': 'application/json', ':method': 'POST' };
      return answerOn(open(url, { ...type, ...fields }, true).end(body));
    },
    [Symbol.dispose]: () => session.destroy(),
  };
}
