import { describe, expect, test } from '@jest/globals';

import { startFront } from '../support/front.ts';
import { RawClient } from '../support/raw-http.ts';
import { startRawUpstream, startUpstream } from '../support/upstream.ts';

const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
const SWITCHED = 'HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';

/** Names by which gateways and load balancers tell applications about the caller, in some spellings. */
const CLAIMS = [
  ...['X-Gateway-Assertion', 'x-gateway-assertion', 'X_Gateway_Assertion', 'X-Gateway_Assertion'],
  ...['X.Gateway.Assertion', 'X_GATEWAY_ANYTHING', 'X-Forwarded-User', 'X_Forwarded_For'],
  ...['X-Forwarded-Email', 'X-Forwarded-Groups', 'X-Forwarded-Preferred-Username'],
  ...['X-Forwarded-Access-Token', 'X-Forwarded-Client-Cert', 'X-Forwarded', 'Forwarded'],
  ...[
    'Remote-User',
    'remote_user',
    'REMOTE-USER',
    'Remote-Groups',
    'Remote.Email',
    'X-Remote-User',
  ],
  ...['X_Remote_Group', 'X-Remote-Extra-Scopes', 'X-WEBAUTH-USER', 'X-WebAuth-Role'],
  ...['X-Auth-Request-User', 'X-Auth-Request-Email', 'X_AUTH_REQUEST_GROUPS', 'X-Auth-User'],
  ...[
    'X-Goog-Authenticated-User-Email',
    'X-Goog-Authenticated-User-Id',
    'X-Goog-IAP-JWT-Assertion',
  ],
  ...['Cf-Access-Jwt-Assertion', 'Cf-Access-Authenticated-User-Email', 'CF-Connecting-IP'],
  ...['X-Client-IP', 'x_client_ip', 'True-Client-IP', 'X-Real-IP', 'X-Cluster-Client-IP'],
  ...['Client-IP', 'Fastly-Client-IP', 'X-Originating-IP', 'X-Original-Forwarded-For'],
  ...['X-Amzn-Oidc-Data', 'X-Amzn-Oidc-Identity', 'X-Amzn-Mtls-Clientcert-Subject'],
  ...['X-MS-CLIENT-PRINCIPAL', 'X-MS-CLIENT-PRINCIPAL-NAME', 'X-MS-TOKEN-AAD-ID-TOKEN'],
  ...['X-Pomerium-Jwt-Assertion', 'X-Pomerium-Claim-Email', 'X-Authentik-Username', 'X-Vouch-User'],
  ...['X-Token-User-Email', 'X-Token-Subject', 'X-Userinfo', 'X-Consumer-Username'],
  ...['X-Credential-Identifier', 'X-Authenticated-Userid', 'Tailscale-User-Login'],
  ...['Ssl-Client-Cert', 'SSL_CLIENT_S_DN', 'X-SSL-Client-Verify', 'X-Client-Cert', 'Client-Cert'],
  ...['X-Client-Certificate', 'X-ARR-ClientCert', 'WL-Proxy-Client-Cert', 'SM_USER', 'iv-user'],
  ...[
    'OAM_REMOTE_USER',
    'Shib-Identity-Provider',
    'eppn',
    'x-proxy-user',
    'X-ProxiedEntitiesChain',
  ],
  ...['X-Envoy-External-Address', 'X-Envoy-Original-Path', 'X-Original-URL', 'X-Rewrite-URL'],
  ...['X-Original-Method', 'X-HTTP-Method-Override', 'X_HTTP_Method_Override', 'X-Method-Override'],
  ...[
    'X-Forwarded-Prefix',
    'X-Forwarded-Host',
    'Front-End-Https',
    'X-Url-Scheme',
    'X-Original-Host',
  ],
  ...['OIDC_CLAIM_sub', 'OIDC-Claim-Email', 'Kubeflow-Userid', 'X-Auth-Subject', 'X-Auth-Userid'],
  ...['X-ID-Token', 'L5d-Client-Id', 'Sf-Context-Current-User', 'X-Replit-User-Id'],
  ...['X-Sandstorm-User-Id', 'Shiny-Server-Credentials', 'CloudFront-Viewer-Address'],
];

/** Names that applications need. */
const NEEDED = [
  ...['X-Requested-With', 'X-CSRF-Token', 'X-XSRF-TOKEN', 'X-Auth-Token', 'X-Access-Token'],
  ...['X-Api-Key', 'X-User-Id', 'X-Amzn-Trace-Id', 'X-Amz-Date', 'x-ms-version', 'X-Goog-Meta-A'],
  ...['Traceparent', 'CF-IPCountry', 'CF-Ray', 'Impersonate-User', 'X-Forward', 'X-Remoteness'],
  ...['User', 'From', 'Referer', 'X-Token', 'X-Original-Filename', 'X-Clientele', 'Remote'],
];

/** What acts on more than the response. */
const EFFECTS = [
  ...['Service-Worker-Allowed', 'service-worker-allowed', 'Clear-Site-Data', 'Alt-Svc', 'NEL'],
  ...['X-Accel-Redirect', 'X-ACCEL-EXPIRES', 'X-Accel-Limit-Rate', 'X-Sendfile', 'X-SENDFILE'],
  ...['X-Lighttpd-Send-File', 'X-Reproxy-URL', 'X-LiteSpeed-Location', 'Public-Key-Pins'],
  ...['X-Envoy-Immediate-Health-Check-Fail'],
];

/** Response fields that applications need. */
const PASSING = [
  ...['Strict-Transport-Security', 'X-Accel-Buffering', 'Content-Security-Policy', 'Report-To'],
  ...['Cache-Control', 'X-Frame-Options', 'Link', 'SourceMap', 'X-Powered-By', 'Surrogate-Control'],
];

/** Returns the names of request fields, out of these, that reach the upstream of a route. */
async function namesAtUpstream(
  names: readonly string[],
  { passed, extra = '' }: { passed?: readonly string[]; extra?: string } = {},
): Promise<string[]> {
  await using upstream = await startUpstream((_message, response) => response.end('ok'));
  let raw: readonly string[] = [];
  upstream.server.on('request', ({ rawHeaders }) => (raw = rawHeaders));
  upstream.server.on('upgrade', ({ rawHeaders }, socket) => {
    raw = rawHeaders;
    socket.end('HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n');
  });
  const route = passed && { passRequestHeaders: passed };
  await using front = await startFront({ upstream: upstream.origin, ...(route && { route }) });
  await using client = await RawClient.connect(front.port);
  const lines = names.map((name) => `${name}: claimed\r\n`).join('');
  client.send(`GET / HTTP/1.1\r\nHost: app.test\r\n${lines}${extra}\r\n`);
  expect([200, 403]).toContain((await client.response()).status);
  return raw.filter((_name, index) => raw[index + 1] === 'claimed');
}

/** Returns the names of response fields, out of these, that reach the client of a route. */
async function namesAtClient(
  statusLine: string,
  names: readonly string[],
  passed?: readonly string[],
): Promise<string[]> {
  const lines = names.map((name) => `${name}: effect\r\n`).join('');
  await using upstream = await startRawUpstream((socket) => {
    socket.once('data', () => socket.end(`${statusLine}${lines}\r\n`));
  });
  const route = passed && { passResponseHeaders: passed };
  await using front = await startFront({ upstream: upstream.origin, ...(route && { route }) });
  await using client = await RawClient.connect(front.port);
  const upgrade = statusLine.includes('200') ? '' : UPGRADE;
  client.send(`GET / HTTP/1.1\r\nHost: app.test\r\n${upgrade}\r\n`);
  const { headers } = await client.response();
  return headers.filter(([, value]) => value === 'effect').map(([name]) => name);
}

describe('A request field', () => {
  test.each(CLAIMS)('%s of a client does not reach the upstream', async (name) => {
    expect(await namesAtUpstream([name])).toEqual([]);
  });

  test('that claims an identity does not reach the upstream in a handshake', async () => {
    expect(await namesAtUpstream(CLAIMS, { extra: UPGRADE })).toEqual([]);
  });

  test('that applications need reaches the upstream', async () => {
    expect(await namesAtUpstream(NEEDED)).toEqual(NEEDED);
    const inHandshake = await namesAtUpstream(NEEDED, { extra: UPGRADE });
    expect(inHandshake.sort()).toEqual([...NEEDED].sort());
  });

  test('that the route lets through reaches the upstream, in that spelling only', async () => {
    const sent = ['X-Real-IP', 'x-real-ip', 'X_Real_IP', 'X-Client-IP', 'REMOTE_USER'];
    const passed = ['x-real-ip', 'remote_user'];
    for (const extra of ['', UPGRADE]) {
      const names = (await namesAtUpstream(sent, { passed, extra })).map((name) =>
        name.toLowerCase(),
      );
      expect(names.sort()).toEqual(['remote_user', 'x-real-ip', 'x-real-ip']);
    }
  });

  test('that only the gateway may write is not let through by a wrong snapshot either', async () => {
    const names = ['X-Gateway-Assertion', 'X-Forwarded-For', 'X_Gateway_Assertion'];
    const passed = names.map((name) => name.toLowerCase());
    expect(await namesAtUpstream(names, { passed })).toEqual([]);
  });
});

describe('A response field', () => {
  const HEADS: readonly (readonly [string, string])[] = [
    ['a response', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n'],
    ['a declined handshake', 'HTTP/1.1 403 No\r\nContent-Length: 0\r\n'],
    ['a WebSocket', SWITCHED],
  ];

  test.each(HEADS)('of %s that acts on more than that is removed', async (_kind, head) => {
    expect(await namesAtClient(head, [...EFFECTS, ...PASSING])).toEqual(PASSING);
  });

  test.each(HEADS)('of %s that the route lets through reaches the client', async (_kind, head) => {
    const passed = ['service-worker-allowed'];
    const names = await namesAtClient(head, EFFECTS, passed);
    expect(names.map((name) => name.toLowerCase())).toEqual([...passed, ...passed]);
  });

  test('of early hints and trailers is removed, whatever the route lets through', async () => {
    await using upstream = await startUpstream((_message, response) => {
      const hints = { link: '</a.css>', 'clear-site-data': 'effect', 'x-sendfile': 'effect' };
      response.writeEarlyHints(hints);
      response.writeHead(200, { trailer: 'X-Sum' });
      response.addTrailers({ 'X-Sum': '1', 'Clear-Site-Data': 'effect', 'Remote-User': 'claimed' });
      response.end('ok');
    });
    const route = { passResponseHeaders: ['clear-site-data'] };
    await using front = await startFront({ upstream: upstream.origin, route });
    await using client = await RawClient.connect(front.port);
    client.send('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
    expect((await client.response()).headers).toEqual([['Link', '</a.css>']]);
    expect((await client.response()).trailers).toEqual([['X-Sum', '1']]);
  });
});
