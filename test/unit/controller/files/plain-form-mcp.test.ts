import { describe, expect, test } from '@jest/globals';

import { readPlainForm } from './read-plain-form.ts';

const ADDRESSES = { from: 'https://a.example', to: 'https://b.example' };

function read(mcp: string): ReturnType<typeof readPlainForm> {
  return readPlainForm(`routes: [{from: https://a.example, to: https://b.example, mcp: ${mcp}}]`);
}

describe('the plain form of mcp', () => {
  test.each([
    { what: 'the empty client', mcp: '{client: {}}', spec: { client: {} } },
    {
      what: 'the empty upstream_oauth2, which selects discovery',
      mcp: '{server: {upstream_oauth2: {}, authorization_server_url: https://c.example}}',
      spec: { server: { upstreamOauth2: {}, authorizationServerUrl: 'https://c.example' } },
    },
    {
      what: 'every key of upstream_oauth2',
      mcp: '{server: {upstream_oauth2: {client_id: x, endpoint: {auth_url: https://c.example/a, token_url: https://c.example/t}, scopes: [a], authorization_url_params: {access_type: offline}, resource_indicator: false}}}',
      spec: {
        server: {
          upstreamOauth2: {
            clientId: 'x',
            endpoint: { authUrl: 'https://c.example/a', tokenUrl: 'https://c.example/t' },
            scopes: ['a'],
            authorizationUrlParams: { access_type: 'offline' },
            resourceIndicator: false,
          },
        },
      },
    },
  ])('translates $what', ({ mcp, spec }) => {
    const { resources, problems } = read(mcp);

    expect(problems).toEqual([]);
    expect(resources).toMatchObject([
      { kind: 'GatewaySettings' },
      { kind: 'Route', spec: { ...ADDRESSES, mcp: spec } },
    ]);
  });

  test('makes client secrets of upstreams references to one Secret', () => {
    const text = `
      routes:
        - from: https://a.example
          to: https://b.example
          mcp: {server: {upstream_oauth2: {client_id: x, client_secret: hunter2, endpoint: {auth_style: params}}}}
        - from: https://c.example
          to: https://d.example
          mcp: {server: {upstream_oauth2: {client_id: y, client_secret_file: secrets/d}}}
    `;
    const { resources, problems } = readPlainForm(text, {
      '/etc/gatehouse/secrets/d': 'hunter3\n',
    });
    const [, secret, first, second] = resources;

    expect(problems).toEqual([]);
    expect(secret).toMatchObject({
      kind: 'Secret',
      values: new Map([
        ['route-0', Buffer.from('hunter2')],
        ['route-1', Buffer.from('hunter3')],
      ]),
    });
    expect(first).toMatchObject({
      spec: {
        mcp: {
          server: {
            upstreamOauth2: {
              clientId: 'x',
              clientSecretRef: { name: 'gatehouse', key: 'route-0' },
              endpoint: { authStyle: 'params' },
            },
          },
        },
      },
    });
    expect(second).toMatchObject({
      spec: { mcp: { server: { upstreamOauth2: { clientSecretRef: { key: 'route-1' } } } } },
    });
    expect(JSON.stringify([first, second])).not.toContain('hunter');
  });
});
