import { describe, expect, test } from '@jest/globals';

import { readCandidates } from '../../../../controller/files/candidates.ts';
import {
  readOverrides,
  settingsVariables,
} from '../../../../controller/files/environment-overrides.ts';
import type { Environment } from '../../../../shared/runtime/environment.ts';
import { formatProblem } from '../../../../controller/files/located-problem.ts';
import { verifies } from '../../../requirements/verifies.ts';
import { contentsOf } from './contents-of.ts';

const SETTINGS = `
apiVersion: gatehouse.dev/v1alpha1
kind: GatewaySettings
metadata: {name: corp, namespace: ops}
spec:
  authenticateUrl: https://from-file.example
  cookie: {expiration: 2h, sameSite: Strict}
`;

describe('environment variables', () => {
  test.each([
    {
      variable: 'AUTHENTICATE_URL',
      value: 'https://auth.example',
      spec: { authenticateUrl: 'https://auth.example' },
    },
    {
      variable: 'MCP_ALLOWED_CLIENT_ID_DOMAINS',
      value: 'a.example, *.b.example,',
      spec: { mcpAllowedClientIdDomains: ['a.example', '*.b.example'] },
    },
    {
      variable: 'MCP_ALLOWED_AS_METADATA_DOMAINS',
      value: 'mcp.example,*.login.example',
      spec: { mcpAllowedAsMetadataDomains: ['mcp.example', '*.login.example'] },
    },
    {
      variable: 'MCP_ALLOWED_ORIGINS',
      value: 'https://chat.example',
      spec: { mcpAllowedOrigins: ['https://chat.example'] },
    },
    {
      variable: 'OUTBOUND_ALLOWED_CIDRS',
      value: '10.0.0.0/8,fd00::/8',
      spec: { outboundAllowedCidrs: ['10.0.0.0/8', 'fd00::/8'] },
    },
    {
      variable: 'TRUSTED_PROXIES',
      value: '10.0.0.0/24, fd00::/64',
      spec: { trustedProxies: ['10.0.0.0/24', 'fd00::/64'] },
    },
    {
      variable: 'MCP_UNUSED_CLIENT_LIFETIME',
      value: '168h',
      spec: { mcpUnusedClientLifetime: '168h' },
    },
    { variable: 'TOOL_DENIAL', value: 'result', spec: { toolDenial: 'result' } },
    { variable: 'BEARER_TOKEN_FORMAT', value: 'jwt', spec: { bearerTokenFormat: 'jwt' } },
    {
      variable: 'IDP_ACCESS_TOKEN_ALLOWED_AUDIENCES',
      value: 'https://api.example, api',
      spec: { idpAccessTokenAllowedAudiences: ['https://api.example', 'api'] },
    },
    { variable: 'OUTAGE_GRACE', value: '5m', spec: { outageGrace: '5m' } },
    {
      variable: 'AUTHORIZE_LOG_FIELDS',
      value: 'user,mcp-tool',
      spec: { authorizeLogFields: ['user', 'mcp-tool'] },
    },
    {
      variable: 'ACCESS_LOG_FIELDS',
      value: 'time, headers.User-Agent',
      spec: { accessLog: { fields: ['time', 'headers.User-Agent'] } },
    },
    { variable: 'ACCESS_LOG_MODE', value: 'Errors', spec: { accessLog: { mode: 'Errors' } } },
    {
      variable: 'TRACING_INCOMING_CONTEXT',
      value: 'NewTrace',
      spec: { tracing: { incomingContext: 'NewTrace' } },
    },
    {
      variable: 'COOKIE_EXPIRATION',
      value: '30m',
      spec: { cookie: { expiration: '30m', sameSite: 'Strict' } },
    },
    {
      variable: 'COOKIE_SAME_SITE',
      value: 'None',
      spec: { cookie: { expiration: '2h', sameSite: 'None' } },
    },
    {
      variable: 'TOKENS_EXTERNAL_TOKEN_LIFETIME',
      value: '1m',
      spec: { tokens: { externalTokenLifetime: '1m' } },
    },
    {
      variable: 'TOKENS_REFRESH_TOKEN_LIFETIME',
      value: '1h',
      spec: { tokens: { refreshTokenLifetime: '1h' } },
    },
    {
      variable: 'TOKENS_REFRESH_TOKEN_GRACE',
      value: '0s',
      spec: { tokens: { refreshTokenGrace: '0s' } },
    },
    {
      variable: 'TOKENS_OPAQUE_TOKEN_LIFETIME',
      value: '5s',
      spec: { tokens: { opaqueTokenLifetime: '5s' } },
    },
  ])('$variable wins over the files', ({ variable, value, spec }) => {
    const { problems, resource } = read(SETTINGS, { [variable]: value });
    expect(problems).toEqual([]);
    expect(resource).toMatchObject({ metadata: { name: 'corp', namespace: 'ops' }, spec });
  });

  for (const value of ['unset', 'unknown']) {
    verifies('bearer.setting', `may have the bearer token format ${value}`, () => {
      const { resource } = read('bearer_token_format: jwt', { BEARER_TOKEN_FORMAT: value });
      expect(resource).toMatchObject({ spec: { bearerTokenFormat: 'default' } });
    });
  }

  test('for settings are all in the table above', () => {
    expect(settingsVariables()).toHaveLength(21);
  });

  test('that are empty count as unset', () => {
    const { resource } = read(SETTINGS, { AUTHENTICATE_URL: ' ', COOKIE_EXPIRATION: '' });
    expect(resource).toMatchObject({
      spec: { authenticateUrl: 'https://from-file.example', cookie: { expiration: '2h' } },
    });
  });

  test('win over the plain form too', () => {
    const { resource } = read('cookie_expiration: 1h', { COOKIE_EXPIRATION: '5m' });
    expect(resource).toMatchObject({ spec: { cookie: { expiration: '5m' } } });
  });

  test('apply if no file has settings', () => {
    const { resource } = read('# No settings.', { COOKIE_EXPIRATION: '5m' });
    expect(resource).toMatchObject({
      kind: 'GatewaySettings',
      spec: { cookie: { expiration: '5m' } },
    });
  });

  test.each([
    {
      environment: { COOKIE_EXPIRATION: 'soon' },
      problem:
        'environment GatewaySettings ops/corp: COOKIE_EXPIRATION: must be a duration such as 90s, 1h30m or 500ms (Gateway API, GEP-2257) [InvalidSpec]',
    },
    {
      environment: { AUTHORIZE_LOG_FIELDS: 'user,shoe-size' },
      problem: /^environment GatewaySettings ops\/corp: AUTHORIZE_LOG_FIELDS: must be one of /,
    },
    {
      environment: { TRUSTED_PROXIES: '10.0.0.1' },
      problem:
        'environment GatewaySettings ops/corp: TRUSTED_PROXIES: must be an address range such as 10.20.0.0/16 [InvalidSpec]',
    },
  ])('that are invalid are reported by name: $environment', ({ environment, problem }) => {
    const { problems } = read(SETTINGS, environment);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
  });

  test('do not change the place of problems in files', () => {
    const { problems } = read(SETTINGS.replace('{expiration: 2h, sameSite: Strict}', 'never'), {
      COOKIE_EXPIRATION: '5m',
    });
    expect(problems).toEqual([
      'a.yaml:7 (document 1) GatewaySettings ops/corp: spec.cookie: must be an object [InvalidSpec]',
    ]);
  });
});

function read(
  text: string,
  environment: Environment,
): { readonly resource: unknown; readonly problems: readonly string[] } {
  const { resources } = readCandidates(contentsOf({ 'a.yaml': text }), readOverrides(environment));
  const settings = resources.find(({ kind }) => kind === 'GatewaySettings');
  return {
    resource: settings?.resource,
    problems: resources.flatMap(({ problems }) => problems.map(formatProblem)),
  };
}
