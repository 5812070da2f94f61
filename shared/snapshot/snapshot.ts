import type { Policy } from '../policy/policy.ts';
import type { CompiledTracing } from './compiled-tracing.ts';
import type { CompiledUpstreamOAuth } from './compiled-upstream-oauth.ts';
import type { AuthorizeLogField, CompiledAccessLog } from './log-fields.ts';
import type { Origin } from './origin.ts';

/**
 * The whole compiled configuration: the only contract between the control plane and the data plane.
 * Immutable; a proxy replaces it as a whole.
 */
export interface Snapshot {
  /** sha256 over the sorted keys and hashes of `resources`: equal configuration, equal version. */
  readonly version: string;
  readonly resources: ReadonlyMap<string, SnapshotResource>;
}

/** A resource of a snapshot, with its key and hash. */
export interface SnapshotResource {
  /**
   * `settings`, `signing-keys`, `identity-provider/<name>`, `route/<namespace>/<name>`,
   * `service/<namespace>/<name>`, `held-host/<host>` or `certificate/<namespace>/<name>`.
   */
  readonly key: string;
  /** sha256 (hex) of the canonical JSON of `value`. */
  readonly hash: string;
  readonly value: CompiledResource;
}

/** Content of a snapshot resource. */
export type CompiledResource =
  | CompiledSettings
  | CompiledSigningKeys
  | CompiledIdentityProvider
  | CompiledRoute
  | CompiledService
  | CompiledHeldHost
  | CompiledCertificate;

/** Settings for all routes, from `GatewaySettings`. Durations are seconds. */
export interface CompiledSettings {
  readonly kind: 'settings';
  /** `namespace/name` of the GatewaySettings; sealed into external tokens. */
  readonly gatewayId: string;
  /** Origin of the dedicated sign-in host. If absent, users sign in at every route host. */
  readonly authenticateOrigin?: Origin;
  /** Domain patterns for URL client IDs. Empty: URL client IDs are not supported. */
  readonly allowedClientIdDomains: readonly string[];
  /** Domain patterns that discovery for upstreams may ask. Never empty; if absent, it asks nobody. */
  readonly allowedAsMetadataDomains?: readonly string[];
  /** Origins besides the route's own and http loopback that may call MCP endpoints. */
  readonly allowedOrigins: readonly Origin[];
  /** Special-purpose address ranges that outbound requests may reach. */
  readonly outboundAllowedCidrs: readonly string[];
  /** Address ranges of proxies in front of the gateway; their `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  readonly authorizeLogFields: readonly AuthorizeLogField[];
  /** If absent, the process decides: no access log, or its default fields. */
  readonly accessLog?: CompiledAccessLog;
  readonly cookie: { readonly expirationSeconds: number; readonly sameSite: SameSite };
  /** For routes that do not name one themselves, except public ones. If absent: `default`. */
  readonly bearerTokenFormat?: BearerTokenFormat;
  /** For routes without a list of their own. Never empty; if absent, there is no list. */
  readonly idpAccessTokenAllowedAudiences?: readonly string[];
  readonly tokens: {
    readonly externalTokenSeconds: number;
    readonly refreshTokenSeconds: number;
    /**
     * How long the rotation of a refresh token can be repeated with the same successor; 0: never.
     */
    readonly refreshTokenGraceSeconds: number;
  };
  /** For routes that do not say it themselves. If absent: `error`. */
  readonly toolDenial?: ToolDenial;
  /** How long a dynamically registered client is remembered without use. */
  readonly unusedClientSeconds: number;
  /**
   * How long the last good check of a credential stays valid while the shared store is unavailable.
   */
  readonly outageGraceSeconds: number;
  /** How long an accepted token that is not a JWT counts without asking its provider again. */
  readonly opaqueTokenSeconds: number;
  /** What the settings say about tracing; the environment of each process wins over it. */
  readonly tracing?: CompiledTracing;
  /** Name of the certificate for hosts whose routes have none. It may be absent from the snapshot. */
  readonly defaultCertificate?: string;
}

/** How a route reads `Authorization: Bearer` (specification: Bearer token format setting). */
export type BearerTokenFormat = 'default' | 'idp_access_token' | 'idp_identity_token' | 'jwt';

/**
 * How a call of a tool is answered that the policy denies: as a JSON-RPC error, or as a result of the tool
 * with `isError`.
 */
export type ToolDenial = 'error' | 'result';

/** Value of the `SameSite` attribute of session cookies. */
export type SameSite = 'Lax' | 'Strict' | 'None';

/** Private keys of `X-Gateway-Assertion`: the first signs, all are published. */
export interface CompiledSigningKeys {
  readonly kind: 'signing-keys';
  readonly keys: readonly {
    readonly keyId: string;
    readonly algorithm: 'ES256' | 'RS256' | 'EdDSA';
    /** PKCS #8, PEM. */
    readonly privateKey: string;
  }[];
}

/** A provider of identities. */
export interface CompiledIdentityProvider {
  readonly kind: 'identity-provider';
  readonly name: string;
  /** If absent: an OpenID provider. GitHub has no identity tokens, Apple no access tokens. */
  readonly type?: 'github' | 'apple';
  /** Of GitHub, the address of its web pages, without a trailing slash. */
  readonly issuer: string;
  /** Present with type `github`: the address of its REST API, without a trailing slash. */
  readonly apiUrl?: string;
  /** Whether users sign in here unless their route names another; true for at most one provider. */
  readonly signIn: boolean;
  /** Absent if nobody signs in here, and it is only there for the format `jwt`. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** If absent: `openid email profile`, and `offline_access` if the provider supports it. */
  readonly scopes?: readonly string[];
  readonly authorizationParams: Readonly<Record<string, string>>;
  /** Names from the claim to the member that has a user's groups. If absent: `groups`. */
  readonly groupsClaim?: readonly string[];
  /** Where groups are that the provider leaves out of the claims. */
  readonly groupsLookup?: GroupsLookup;
  /** Drops email addresses that the provider does not call verified. */
  readonly requireVerifiedEmail?: boolean;
  /** For the format `jwt`; never empty. If absent, that format accepts no token of the provider. */
  readonly audiences?: readonly string[];
  /** Where its keys for the format `jwt` are. If absent, discovery tells. */
  readonly jwksUrl?: string;
  /** Present if its JWT access tokens have the `typ` `JWT` or none. If absent: only `at+jwt`. */
  readonly accessTokenType?: 'jwt';
  /** Keys that the controller read, instead of `jwksUrl` and discovery; the provider has no others. */
  readonly keys?: readonly CompiledPublicKey[];
  /** Certificate authorities that its servers are checked against, instead of the system's; PEM. */
  readonly certificateAuthorities?: string;
}

/** A public key that verifies signatures, as a JSON Web Key (RFC 7517): RSA, EC, or Ed25519. */
export interface CompiledPublicKey {
  readonly kty: 'RSA' | 'EC' | 'OKP';
  readonly kid: string;
  readonly alg?: string;
  readonly n?: string;
  readonly e?: string;
  readonly crv?: string;
  readonly x?: string;
  readonly y?: string;
}

/** An endpoint that lists the groups of the user whose access token it gets. */
export interface GroupsLookup {
  readonly url: string;
  /** Names from the response to the names of the groups, through lists. */
  readonly groupsPath: readonly string[];
  /** Member of the response that has the URL of the next page. */
  readonly nextPage: string;
}

/** A route: which requests it owns, who may send them, and where they go. */
export interface CompiledRoute {
  readonly kind: 'route';
  /** `namespace/name` of the Route, which logs and problems use. */
  readonly name: string;
  readonly scheme: 'http' | 'https';
  /** Lower case; starts with `*.` for a wildcard. */
  readonly host: string;
  readonly port: number;
  readonly path: PathMatch;
  /** `to`, without a trailing slash; of a route with `backends`, the address of the first. */
  readonly upstream: string;
  /** Present if requests go to the targets of Services instead, by weight. */
  readonly backends?: readonly CompiledBackend[];
  readonly access: Access;
  /** If absent: that of the settings. */
  readonly bearerTokenFormat?: BearerTokenFormat;
  /**
   * Name of the provider where users sign in, and whose tokens the formats `idp_*` accept. If absent: the
   * one with `signIn`.
   */
  readonly identityProvider?: string;
  /** Never empty. If absent: the list of the settings. */
  readonly idpAccessTokenAllowedAudiences?: readonly string[];
  /** Present on routes in front of an MCP server. */
  readonly mcpServer?: {
    /** Appended to `upstream`; empty or starting with `/`, without a trailing slash. */
    readonly path: string;
    readonly maxRequestBytes: number;
    /** Paths below the endpoint that are served too. If absent, there are none. */
    readonly subPaths?: readonly CompiledSubPath[];
    /** Absent if the settings decide. */
    readonly toolDenial?: ToolDenial;
    /** Present if the gateway gets a token of the upstream's own for each user. */
    readonly upstreamOAuth?: CompiledUpstreamOAuth;
  };
  /** Present on routes in front of an MCP client, whose backend gets the user's external token. */
  readonly mcpClient?: true;
  readonly allowWebsockets: boolean;
  /** Origins besides the route's own that may open WebSockets; absent if there are none. */
  readonly websocketOrigins?: readonly Origin[];
  /** Lower-case names of request fields of other gateways that reach the upstream. */
  readonly passRequestHeaders?: readonly string[];
  /** Lower-case names of response fields that reach the client although they act on more than it. */
  readonly passResponseHeaders?: readonly string[];
  /** How long the upstream may take to begin its response; 0 is no limit. */
  readonly responseTimeoutMs: number;
  /** Names of the certificates for its host, all of which cover it. If absent: none of its own. */
  readonly certificates?: readonly string[];
}

/** A path below the endpoint of an MCP server that its route serves too. */
export interface CompiledSubPath {
  /** Begins with `/`; relative to the endpoint, and compared byte for byte. */
  readonly path: string;
  /** Whether the rules of the endpoint apply; if not, any request of a permitted caller passes. */
  readonly inspected: boolean;
}

/** A share of a route's requests, for the targets of a Service. */
export interface CompiledBackend {
  /**
   * `namespace/name` of the Service. Absent if it must not be used or does not exist: its share of
   * the requests is answered with 503.
   */
  readonly service?: string;
  /** Port of the Service. */
  readonly port: number;
  /** Share of the requests, relative to the other backends; 0 is none. */
  readonly weight: number;
}

/**
 * Targets of the ports of a Service. They change with every pod, so they are a separate resource, and
 * the routes that use them do not change.
 */
export interface CompiledService {
  readonly kind: 'service';
  /** `namespace/name` of the Service. */
  readonly name: string;
  readonly ports: readonly {
    /** Port of the Service. */
    readonly port: number;
    /** Ready targets as `host:port`, IPv6 in brackets; sorted, none twice. May be empty. */
    readonly targets: readonly string[];
  }[];
}

/**
 * A held host that a wildcard of another namespace would serve. Proxies treat it as a host without
 * routes; a route of exactly this host serves nevertheless.
 */
export interface CompiledHeldHost {
  readonly kind: 'held-host';
  /** Lower case; starts with `*.` for a wildcard. */
  readonly host: string;
  /** Ports of such wildcards, in ascending order; on others the host is not held. */
  readonly ports: readonly number[];
}

/** A certificate with its key, for TLS with clients. */
export interface CompiledCertificate {
  readonly kind: 'certificate';
  /** `namespace/name` of the Secret; in the plain form, one that is made from the place of the files. */
  readonly name: string;
  /** PEM; the certificate of the server first, then those of its authorities, in order. */
  readonly certificate: string;
  /** PKCS #8, PEM. */
  readonly privateKey: string;
  /** DNS names and IP addresses that it is for, in lower case; `*.` begins a wildcard. */
  readonly hosts: readonly string[];
  /** When it expires, in seconds since the epoch. */
  readonly notAfter: number;
}

/** `prefix` values have no trailing slash (`''` matches every path) and match whole segments. */
export type PathMatch =
  | { readonly kind: 'prefix'; readonly value: string }
  | { readonly kind: 'exact'; readonly value: string }
  | { readonly kind: 'regex'; readonly value: string };

/** Whether anyone may use a route, or its policy decides. */
export type Access =
  { readonly kind: 'public' } | { readonly kind: 'policy'; readonly policy: Policy };
