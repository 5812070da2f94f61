import type { CompiledUpstreamClient, CompiledUpstreamOAuth } from '../compiled-upstream-oauth.ts';
import { ORIGIN_PATTERN, type Origin } from '../origin.ts';
import { policySchema } from './policy-schema.ts';
import {
  anyOf,
  boolean,
  constant,
  constantTrue,
  integer,
  listOf,
  number,
  objectOf,
  oneOfKinds,
  optional,
  recordOf,
  string,
  type Schema,
} from './schema.ts';
import {
  ACCESS_LOG_FIELDS,
  AUTHORIZE_LOG_FIELDS,
  logFieldPattern,
  type AccessLogField,
  type AuthorizeLogField,
  type CompiledAccessLog,
} from '../log-fields.ts';
import { tracingSchema } from './tracing-schema.ts';
import {
  type Access,
  type BearerTokenFormat,
  type CompiledBackend,
  type CompiledCertificate,
  type CompiledHeldHost,
  type CompiledIdentityProvider,
  type CompiledResource,
  type CompiledRoute,
  type CompiledService,
  type CompiledSettings,
  type CompiledSigningKeys,
  type GroupsLookup,
  type CompiledSubPath,
  type PathMatch,
  type CompiledPublicKey,
  type ToolDenial,
} from '../snapshot.ts';

const PORT_MAX = 65_535;
const WEIGHT_MAX = 1_000_000;

const texts = listOf(string());
const notEmpty = string('^.');
const providerName = string('^[^\\s/]+$');
const namespacedName = string('^[^\\s/]+/[^\\s/]+$');
const origin: Schema<Origin> = { json: { type: 'string', pattern: ORIGIN_PATTERN } };
const host = string('^[^\\s/A-Z]+$');
const fieldName = string('^[a-z0-9][-._a-z0-9]*$');
const port = integer(1, PORT_MAX);
const privateKey = string('^-----BEGIN PRIVATE KEY-----');
const certificates = string('^-----BEGIN CERTIFICATE-----');
const wholeNumber = integer(0, Number.MAX_SAFE_INTEGER);

const toolDenial = anyOf<ToolDenial>(['error', 'result']);

const bearerTokenFormat = anyOf<BearerTokenFormat>([
  'default',
  'idp_access_token',
  'idp_identity_token',
  'jwt',
]);
const audiences = listOf(notEmpty, { notEmpty: true });

const authorizeLogField: Schema<AuthorizeLogField> = {
  json: { type: 'string', pattern: logFieldPattern(AUTHORIZE_LOG_FIELDS) },
};
const accessLogField: Schema<AccessLogField> = {
  json: { type: 'string', pattern: logFieldPattern(ACCESS_LOG_FIELDS) },
};

const settings = objectOf<CompiledSettings>({
  kind: constant('settings'),
  gatewayId: notEmpty,
  authenticateOrigin: optional(origin),
  allowedClientIdDomains: texts,
  allowedAsMetadataDomains: optional(listOf(notEmpty, { notEmpty: true })),
  allowedOrigins: listOf(origin),
  outboundAllowedCidrs: texts,
  trustedProxies: texts,
  authorizeLogFields: listOf(authorizeLogField),
  accessLog: optional(
    objectOf<CompiledAccessLog>({
      mode: anyOf(['None', 'Errors', 'All']),
      fields: listOf(accessLogField),
    }),
  ),
  cookie: objectOf<CompiledSettings['cookie']>({
    expirationSeconds: number(),
    sameSite: anyOf(['Lax', 'Strict', 'None']),
  }),
  bearerTokenFormat: optional(bearerTokenFormat),
  idpAccessTokenAllowedAudiences: optional(audiences),
  tokens: objectOf<CompiledSettings['tokens']>({
    externalTokenSeconds: number(),
    refreshTokenSeconds: number(),
    refreshTokenGraceSeconds: number(),
  }),
  toolDenial: optional(toolDenial),
  unusedClientSeconds: number(),
  outageGraceSeconds: number(),
  opaqueTokenSeconds: number(),
  tracing: optional(tracingSchema),
  defaultCertificate: optional(namespacedName),
});

const signingKeys = objectOf<CompiledSigningKeys>({
  kind: constant('signing-keys'),
  keys: listOf(
    objectOf<CompiledSigningKeys['keys'][number]>({
      keyId: notEmpty,
      algorithm: anyOf(['ES256', 'RS256', 'EdDSA']),
      privateKey,
    }),
    { notEmpty: true },
  ),
});

const publicKey = objectOf<CompiledPublicKey>({
  kty: anyOf(['RSA', 'EC', 'OKP']),
  kid: notEmpty,
  alg: optional(notEmpty),
  n: optional(notEmpty),
  e: optional(notEmpty),
  crv: optional(notEmpty),
  x: optional(notEmpty),
  y: optional(notEmpty),
});

const identityProvider = objectOf<CompiledIdentityProvider>({
  kind: constant('identity-provider'),
  name: providerName,
  type: optional(anyOf(['github', 'apple'])),
  issuer: string('^https?://'),
  apiUrl: optional(string('^https?://')),
  signIn: boolean,
  clientId: optional(notEmpty),
  clientSecret: optional(string()),
  scopes: optional(texts),
  authorizationParams: recordOf(string()),
  groupsClaim: optional(listOf(notEmpty, { notEmpty: true })),
  groupsLookup: optional(
    objectOf<GroupsLookup>({
      url: string('^https?://'),
      groupsPath: listOf(notEmpty, { notEmpty: true }),
      nextPage: notEmpty,
    }),
  ),
  requireVerifiedEmail: optional(boolean),
  audiences: optional(audiences),
  jwksUrl: optional(string('^https?://')),
  accessTokenType: optional(constant('jwt')),
  keys: optional(listOf(publicKey)),
  certificateAuthorities: optional(certificates),
});

const path = oneOfKinds<PathMatch>({
  prefix: objectOf({ kind: constant('prefix'), value: string('^(?:/.*[^/])?$') }),
  exact: objectOf({ kind: constant('exact'), value: string('^/') }),
  regex: objectOf({ kind: constant('regex'), value: string() }),
});

const backend = objectOf<CompiledBackend>({
  service: optional(namespacedName),
  port,
  weight: integer(0, WEIGHT_MAX),
});

const subPath = objectOf<CompiledSubPath>({ path: string('^/.'), inspected: boolean });

const scopeToken = string('^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$');

const upstreamOAuth = objectOf<CompiledUpstreamOAuth>({
  routeId: notEmpty,
  client: optional(
    objectOf<CompiledUpstreamClient>({
      id: notEmpty,
      secret: optional(notEmpty),
      lacksSecret: optional(constantTrue),
    }),
  ),
  authStyle: optional(anyOf(['header', 'params'])),
  endpoints: optional(
    objectOf<NonNullable<CompiledUpstreamOAuth['endpoints']>>({
      authorizationUrl: string('^https?://'),
      tokenUrl: string('^https?://'),
    }),
  ),
  scopes: optional(listOf(scopeToken, { notEmpty: true })),
  authorizationParams: recordOf(string()),
  sendsResource: boolean,
  fallbackIssuer: optional(string('^https?://')),
});

const access = oneOfKinds<Access>({
  public: objectOf({ kind: constant('public') }),
  policy: objectOf({ kind: constant('policy'), policy: policySchema }),
});

const route = objectOf<CompiledRoute>({
  kind: constant('route'),
  name: namespacedName,
  scheme: anyOf(['http', 'https']),
  host,
  port,
  path,
  upstream: string('^https?://[^\\s]*[^\\s/]$'),
  backends: optional(listOf(backend, { notEmpty: true })),
  access,
  bearerTokenFormat: optional(bearerTokenFormat),
  identityProvider: optional(providerName),
  idpAccessTokenAllowedAudiences: optional(audiences),
  mcpServer: optional(
    objectOf<NonNullable<CompiledRoute['mcpServer']>>({
      path: string('^(?:/.*[^/])?$'),
      maxRequestBytes: wholeNumber,
      toolDenial: optional(toolDenial),
      subPaths: optional(listOf(subPath, { notEmpty: true })),
      upstreamOAuth: optional(upstreamOAuth),
    }),
  ),
  mcpClient: optional(constantTrue),
  allowWebsockets: boolean,
  passRequestHeaders: optional(listOf(fieldName, { notEmpty: true })),
  passResponseHeaders: optional(listOf(fieldName, { notEmpty: true })),
  websocketOrigins: optional(listOf(origin, { notEmpty: true })),
  responseTimeoutMs: number(),
  certificates: optional(listOf(namespacedName, { notEmpty: true })),
});

const service = objectOf<CompiledService>({
  kind: constant('service'),
  name: namespacedName,
  ports: listOf(
    objectOf<CompiledService['ports'][number]>({
      port,
      targets: listOf(string('^(?:\\[[0-9A-Fa-f:.]+\\]|[^\\s:/@?#]+):[1-9]\\d{0,4}$')),
    }),
  ),
});

const heldHost = objectOf<CompiledHeldHost>({
  kind: constant('held-host'),
  host,
  ports: listOf(port, { notEmpty: true }),
});

const certificate = objectOf<CompiledCertificate>({
  kind: constant('certificate'),
  name: namespacedName,
  certificate: certificates,
  privateKey,
  hosts: listOf(host),
  notAfter: wholeNumber,
});

/**
 * The schema of all resources of a snapshot. It is closed: a member that this release does not know may
 * be a restriction, and a proxy that ignored it would permit too much.
 */
export const resourceSchema: Schema<CompiledResource> = oneOfKinds<CompiledResource>({
  settings,
  'signing-keys': signingKeys,
  'identity-provider': identityProvider,
  route,
  service,
  'held-host': heldHost,
  certificate,
});
