/**
 * How the gateway gets tokens for an upstream (specification: Upstream OAuth pipeline). The client secret
 * is here only: proxies read it at each token request and store it nowhere else.
 */
export interface CompiledUpstreamOAuth {
  /** Users' tokens are kept under it: the uid of the Route in a cluster, else `namespace/name`. */
  readonly routeId: string;
  /** Given credentials. If absent, the gateway registers itself. */
  readonly client?: CompiledUpstreamClient;
  /** How credentials are sent to the token endpoint. If absent: what the metadata list, else `header`. */
  readonly authStyle?: 'header' | 'params';
  /** Given endpoints, beside a given client: nothing is discovered. If absent, discovery finds them. */
  readonly endpoints?: { readonly authorizationUrl: string; readonly tokenUrl: string };
  /** Never empty. If absent: the scopes of the challenge, else of the metadata, else none. */
  readonly scopes?: readonly string[];
  /** Further query parameters of the authorization URL; none that the protocol sets. */
  readonly authorizationParams: Readonly<Record<string, string>>;
  /** Whether requests name the upstream in the parameter `resource` (RFC 8707). */
  readonly sendsResource: boolean;
  /** Issuer to use if the protected resource metadata cannot be had; never beside `endpoints`. */
  readonly fallbackIssuer?: string;
}

/** The gateway as a client of an authorization server; without `secret` and `lacksSecret` it is public. */
export interface CompiledUpstreamClient {
  readonly id: string;
  readonly secret?: string;
  /** Present if the Secret cannot be used: no token request can be sent until it can. */
  readonly lacksSecret?: true;
}
