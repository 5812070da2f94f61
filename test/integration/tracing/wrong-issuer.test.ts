import { expect } from '@jest/globals';

import { verifies } from '../../requirements/verifies.ts';
import { Collector } from '../../support/collector/collector.ts';
import { send } from '../../support/http-client.ts';
import { exportingTo, startTracedProcess } from '../../support/tracing/traced-process.ts';
import { startUpstream } from '../../support/upstream.ts';

const SECRET = { name: 'provider', key: 'client-secret' };

verifies(
  'tracing.errors',
  'the trace of a sign-in with a wrong issuer says what is wrong with it',
  async () => {
    await using collector = await Collector.start();
    await using provider = await startUpstream((_message, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ issuer: 'https://another.example.com' }));
    });
    const tracing = exportingTo(collector.endpoint('grpc'), { protocol: 'grpc' });
    const identityProvider = { name: 'test', issuerUrl: provider.origin, clientId: 'gatehouse' };
    const settings = {
      ...tracing,
      identityProviders: [{ ...identityProvider, clientSecretRef: SECRET }],
    };
    await using gateway = await startTracedProcess(settings, { manifests });

    const origin = `http://users.localhost:${String(gateway.port)}`;
    const redirect = await send(origin, { headers: PAGE });
    const page = await send(redirect.headers.location ?? '', { headers: PAGE });
    expect(page.status).toBe(502);
    const id = page.headers['x-request-id'];
    expect(page.body).toContain(id);

    const span = await collector.span(
      'the span of the page',
      ({ attributes }) => attributes['gatehouse.request.id'] === id,
    );
    expect(span).toMatchObject({
      name: 'GET /.gateway/sign_in',
      status: { code: 'error' },
      attributes: { 'error.type': 'identity-provider-failed', 'http.response.status_code': 502 },
    });
    const [exception] = span.events;
    expect(exception?.attributes['exception.message']).toContain('https://another.example.com');
    expect(exception?.attributes['exception.message']).toContain(provider.origin);

    // The page that the user wanted is the root, and the call to the provider is below the sign-in.
    const [tree] = collector.trace(span.traceId);
    expect(tree?.span.attributes['server.address']).toBe('users.localhost');
    const below = tree?.children.find((child) => child.span.spanId === span.spanId);
    expect(below?.children.map((child) => child.span.attributes)).toMatchObject([
      { 'gatehouse.call.operation': 'discovery', 'server.port': provider.port },
    ]);
  },
);

const PAGE = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

function manifests(port: number): readonly object[] {
  return [
    {
      apiVersion: 'gatehouse.dev/v1alpha1',
      kind: 'Route',
      metadata: { name: 'users' },
      spec: {
        from: `http://users.localhost:${String(port)}`,
        to: 'http://127.0.0.1:1',
        allowAnyAuthenticatedUser: true,
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: SECRET.name, labels: { 'gatehouse.dev/referable': 'true' } },
      stringData: { [SECRET.key]: 'the-secret-of-the-client' },
    },
  ];
}
