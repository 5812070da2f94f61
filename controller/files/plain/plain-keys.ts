/** A key of the plain form, with the field of the resource that it sets. */
export type PlainKey = PlainValue | PlainGroup;

/** A key with a value that is copied; the schema of the resource validates it. */
export interface PlainValue {
  readonly field: string;
  /** Values that stand for another one, or for the absence of the key (undefined). */
  readonly synonyms?: Readonly<Record<string, string | undefined>>;
  /** Whether the field is a number in a text, which the plain form may have as a number. */
  readonly isDecimal?: true;
  /** The environment variable that sets it, if there is one. */
  readonly environment?: { readonly name: string; readonly form: 'text' | 'list' };
}

/** A key that contains other keys. */
export interface PlainGroup {
  readonly field: string;
  readonly keys: PlainKeys;
  /** Further keys, which are read elsewhere: secrets. */
  readonly secretKeys?: readonly string[];
}

/** Keys of the plain form by name. */
export type PlainKeys = Readonly<Record<string, PlainKey>>;

/** Where a client secret is: in the value itself, or in the file that it names. */
export const CLIENT_SECRET_KEYS = { inline: 'client_secret', file: 'client_secret_file' };

/** The files of the fields that are added to exports of spans. */
export const EXPORT_HEADER_FILE_KEYS = [
  'otel_exporter_otlp_headers_file',
  'otel_exporter_otlp_traces_headers_file',
] as const;

/** The files of a certificate with its authorities, and of its key. */
export const CERTIFICATE_FILE_KEYS = ['cert_file', 'key_file'] as const;

/** The file of the certificate authorities of an identity provider. */
export const AUTHORITIES_FILE_KEY = 'ca_file';

/** Keys of an entry of `routes`, besides `name` and `tls`. */
export const ROUTE_KEYS: PlainKeys = {
  from: { field: 'from' },
  to: { field: 'to' },
  prefix: { field: 'prefix' },
  path: { field: 'path' },
  regex: { field: 'regex' },
  mcp: {
    field: 'mcp',
    keys: {
      server: {
        field: 'server',
        keys: {
          max_request_bytes: { field: 'maxRequestBytes' },
          path: { field: 'path' },
          sub_paths: { field: 'subPaths' },
          tool_denial: { field: 'toolDenial' },
          upstream_oauth2: {
            field: 'upstreamOauth2',
            secretKeys: Object.values(CLIENT_SECRET_KEYS),
            keys: {
              client_id: { field: 'clientId' },
              endpoint: {
                field: 'endpoint',
                keys: {
                  auth_url: { field: 'authUrl' },
                  token_url: { field: 'tokenUrl' },
                  auth_style: { field: 'authStyle' },
                },
              },
              scopes: { field: 'scopes' },
              authorization_url_params: { field: 'authorizationUrlParams' },
              resource_indicator: { field: 'resourceIndicator' },
            },
          },
          authorization_server_url: { field: 'authorizationServerUrl' },
        },
      },
      client: { field: 'client', keys: {} },
    },
  },
  bearer_token_format: {
    field: 'bearerTokenFormat',
    // `unset` leaves the choice to the settings, `unknown` does not.
    synonyms: { unset: undefined, unknown: 'default' },
  },
  identity_provider: { field: 'identityProvider' },
  idp_access_token_allowed_audiences: { field: 'idpAccessTokenAllowedAudiences' },
  policy: { field: 'policy' },
  allow_any_authenticated_user: { field: 'allowAnyAuthenticatedUser' },
  allow_public_unauthenticated_access: { field: 'allowPublicUnauthenticatedAccess' },
  allow_websockets: { field: 'allowWebsockets' },
  websocket_allowed_origins: { field: 'websocketAllowedOrigins' },
  pass_request_headers: { field: 'passRequestHeaders' },
  pass_response_headers: { field: 'passResponseHeaders' },
  timeout: { field: 'timeouts.request' },
};

/**
 * Keys about tracing, besides those in the form of pairs. Their variables have no `environment`: every
 * process reads them itself.
 */
const TRACING_KEYS: PlainKeys = {
  otel_traces_exporter: { field: 'tracing.tracesExporter' },
  otel_exporter_otlp_endpoint: { field: 'tracing.endpoint' },
  otel_exporter_otlp_traces_endpoint: { field: 'tracing.tracesEndpoint' },
  otel_exporter_otlp_protocol: { field: 'tracing.protocol' },
  otel_exporter_otlp_traces_protocol: { field: 'tracing.tracesProtocol' },
  otel_exporter_otlp_timeout: { field: 'tracing.timeoutMilliseconds' },
  otel_exporter_otlp_traces_timeout: { field: 'tracing.tracesTimeoutMilliseconds' },
  otel_traces_sampler_arg: { field: 'tracing.samplerArg', isDecimal: true },
  otel_bsp_schedule_delay: { field: 'tracing.bspScheduleDelayMilliseconds' },
  otel_bsp_max_export_batch_size: { field: 'tracing.bspMaxExportBatchSize' },
  otel_log_level: { field: 'tracing.logLevel' },
  otel_attribute_value_length_limit: { field: 'tracing.attributeValueLengthLimit' },
  tracing_incoming_context: {
    field: 'tracing.incomingContext',
    environment: { name: 'TRACING_INCOMING_CONTEXT', form: 'text' },
  },
};

/**
 * Keys for all routes, besides `identity_providers`, `signing_key_file`, `default_certificate` and pairs about tracing.
 */
export const SETTINGS_KEYS: PlainKeys = {
  authenticate_url: {
    field: 'authenticateUrl',
    environment: { name: 'AUTHENTICATE_URL', form: 'text' },
  },
  host_patterns: { field: 'hostPatterns' },
  mcp_allowed_client_id_domains: {
    field: 'mcpAllowedClientIdDomains',
    environment: { name: 'MCP_ALLOWED_CLIENT_ID_DOMAINS', form: 'list' },
  },
  mcp_allowed_as_metadata_domains: {
    field: 'mcpAllowedAsMetadataDomains',
    environment: { name: 'MCP_ALLOWED_AS_METADATA_DOMAINS', form: 'list' },
  },
  mcp_allowed_origins: {
    field: 'mcpAllowedOrigins',
    environment: { name: 'MCP_ALLOWED_ORIGINS', form: 'list' },
  },
  mcp_unused_client_lifetime: {
    field: 'mcpUnusedClientLifetime',
    environment: { name: 'MCP_UNUSED_CLIENT_LIFETIME', form: 'text' },
  },
  tool_denial: {
    field: 'toolDenial',
    environment: { name: 'TOOL_DENIAL', form: 'text' },
  },
  outbound_allowed_cidrs: {
    field: 'outboundAllowedCidrs',
    environment: { name: 'OUTBOUND_ALLOWED_CIDRS', form: 'list' },
  },
  trusted_proxies: {
    field: 'trustedProxies',
    environment: { name: 'TRUSTED_PROXIES', form: 'list' },
  },
  authorize_log_fields: {
    field: 'authorizeLogFields',
    environment: { name: 'AUTHORIZE_LOG_FIELDS', form: 'list' },
  },
  access_log: {
    field: 'accessLog',
    keys: {
      mode: { field: 'mode', environment: { name: 'ACCESS_LOG_MODE', form: 'text' } },
      fields: { field: 'fields', environment: { name: 'ACCESS_LOG_FIELDS', form: 'list' } },
    },
  },
  ...TRACING_KEYS,
  bearer_token_format: {
    field: 'bearerTokenFormat',
    environment: { name: 'BEARER_TOKEN_FORMAT', form: 'text' },
    synonyms: { unset: 'default', unknown: 'default' },
  },
  idp_access_token_allowed_audiences: {
    field: 'idpAccessTokenAllowedAudiences',
    environment: { name: 'IDP_ACCESS_TOKEN_ALLOWED_AUDIENCES', form: 'list' },
  },
  cookie_expiration: {
    field: 'cookie.expiration',
    environment: { name: 'COOKIE_EXPIRATION', form: 'text' },
  },
  cookie_same_site: {
    field: 'cookie.sameSite',
    environment: { name: 'COOKIE_SAME_SITE', form: 'text' },
  },
  outage_grace: {
    field: 'outageGrace',
    environment: { name: 'OUTAGE_GRACE', form: 'text' },
  },
  tokens: {
    field: 'tokens',
    keys: {
      external_token_lifetime: {
        field: 'externalTokenLifetime',
        environment: { name: 'TOKENS_EXTERNAL_TOKEN_LIFETIME', form: 'text' },
      },
      refresh_token_lifetime: {
        field: 'refreshTokenLifetime',
        environment: { name: 'TOKENS_REFRESH_TOKEN_LIFETIME', form: 'text' },
      },
      refresh_token_grace: {
        field: 'refreshTokenGrace',
        environment: { name: 'TOKENS_REFRESH_TOKEN_GRACE', form: 'text' },
      },
      opaque_token_lifetime: {
        field: 'opaqueTokenLifetime',
        environment: { name: 'TOKENS_OPAQUE_TOKEN_LIFETIME', form: 'text' },
      },
    },
  },
};

/** Keys of an entry of `identity_providers`, besides its secret. */
export const IDENTITY_PROVIDER_KEYS: PlainKeys = {
  type: { field: 'type' },
  issuer: { field: 'issuerUrl' },
  client_id: { field: 'clientId' },
  sign_in: { field: 'signIn' },
  scopes: { field: 'scopes' },
  authorization_params: { field: 'authorizationParams' },
  groups_claim: { field: 'groupsClaim' },
  groups_lookup: {
    field: 'groupsLookup',
    keys: {
      url: { field: 'url' },
      groups_path: { field: 'groupsPath' },
      next_page: { field: 'nextPage' },
    },
  },
  require_verified_email: { field: 'requireVerifiedEmail' },
  audiences: { field: 'audiences' },
  jwks_url: { field: 'jwksUrl' },
  access_token_type: { field: 'accessTokenType' },
};

/** Returns what a text stands for; undefined if for the absence of the key. */
export function resolveSynonym(
  { synonyms = {} }: Pick<PlainValue, 'synonyms'>,
  text: string,
): string | undefined {
  return Object.hasOwn(synonyms, text) ? synonyms[text] : text;
}

/** Whether a key contains other keys. */
export function isGroup(key: PlainKey): key is PlainGroup {
  return 'keys' in key;
}
