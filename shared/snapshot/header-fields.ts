/** Header fields by their names in lower case, and by the beginnings of names. */
export class FieldList {
  readonly names: ReadonlySet<string>;
  readonly prefixes: readonly string[];
  /** Attack: to try one prefix after the other, for hundreds of made-up names, cost as much as two requests. */
  readonly #prefix: RegExp;

  /** The prefixes are made of letters, digits and hyphens. */
  constructor({ names, prefixes }: Pick<FieldList, 'names' | 'prefixes'>) {
    this.names = names;
    this.prefixes = prefixes;
    this.#prefix = new RegExp(`^(?:${prefixes.join('|')})`);
  }

  /** Returns whether the list has a field of this lower-case name. */
  has(lower: string): boolean {
    return this.names.has(lower) || this.#prefix.test(lower);
  }
}

/** Fields about one connection (RFC 9110, section 7.6.1). The transports write their own. */
export const HOP_BY_HOP_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** Request fields that the gateway or its transport decides about: no Route can pass on a client's. */
export const GATEWAY_REQUEST_FIELDS = new FieldList({
  names: new Set([
    ...HOP_BY_HOP_FIELDS,
    'authorization',
    'content-length',
    'cookie',
    'expect',
    'host',
    'mcp-session-id',
    'proxy',
    'trailer',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-gateway',
    // The policy allowed the method and the path of the request line only.
    ...['x-http-method', 'x-http-method-override', 'x-method-override'],
    ...['x-original-method', 'x-original-path', 'x-original-uri', 'x-original-url'],
    ...['x-override-url', 'x-rewrite-url'],
    'x-request-id',
  ]),
  prefixes: ['proxy-', 'x-gateway-'],
});

/**
 * Request fields by which other gateways and load balancers state who the caller is, and where the request
 * came from. Attack: an upstream that once was behind one of them trusts what a client writes there.
 */
export const FOREIGN_REQUEST_FIELDS = new FieldList({
  names: new Set([
    // Users.
    ...['auth-user', 'cas-user', 'eppn', 'kubeflow-userid', 'l5d-client-id', 'osso-user-dn'],
    ...['rstudio-connect-credentials', 'shiny-server-credentials', 'teleport-jwt-assertion'],
    ...['x-anonymous-consumer', 'x-apigateway-api-userinfo', 'x-auth-email', 'x-auth-groups'],
    ...['x-auth-name', 'x-auth-roles', 'x-auth-subject', 'x-auth-user', 'x-auth-userid'],
    ...['x-auth-username', 'x-endpoint-api-userinfo', 'x-id-token', 'x-jwt-assertion'],
    ...['x-jwt-payload', 'x-proxiedentitieschain', 'x-proxy-roles', 'x-proxy-user', 'x-sso-user'],
    'x-userinfo',
    // Certificates of clients.
    ...['client-cert', 'client-cert-chain', 'x-arr-clientcert', 'x-client-dn', 'x-client-s-dn'],
    ...['x-client-verify', 'x-ssl'],
    // Addresses of clients.
    ...['cf-connecting-ip', 'cf-connecting-ipv6', 'cf-pseudo-ipv4', 'client-ip'],
    ...['cloudfront-viewer-address', 'do-connecting-ip', 'fastly-client-ip', 'fly-client-ip'],
    ...['forwarded', 'forwarded-for', 'incap-client-ip', 'true-client-ip', 'x-azure-clientip'],
    ...['x-azure-fdid', 'x-azure-socketip', 'x-client-ip', 'x-client-port', 'x-cluster-client-ip'],
    ...['x-forwarded', 'x-nf-client-connection-ip', 'x-original-forwarded-for'],
    ...['x-original-remote-addr', 'x-originating-ip', 'x-proxyuser-ip', 'x-real-ip', 'x-real-port'],
    ...['x-sucuri-clientip', 'x-vercel-forwarded-for', 'x-vercel-proxied-for'],
    // Host and scheme of the request.
    ...['disguised-host', 'forwarded-host', 'forwarded-proto', 'front-end-https', 'x-arr-ssl'],
    ...['x-host', 'x-http-host-override', 'x-original-host', 'x-original-proto', 'x-scheme'],
    'x-url-scheme',
  ]),
  prefixes: [
    ...['cf-access-', 'iv-', 'ngrok-auth-', 'oam-', 'oidc-', 'remote-', 'sf-context-', 'shib-'],
    ...['sm-', 'ssl-client-', 'tailscale-', 'wl-proxy-', 'x-amzn-mtls-', 'x-amzn-oidc-'],
    ...['x-appengine-', 'x-auth-request-', 'x-authenticated-', 'x-authentik-', 'x-client-cert'],
    ...['x-consumer-', 'x-credential-', 'x-envoy-', 'x-forwarded-', 'x-goog-authenticated-user-'],
    ...['x-goog-iap-', 'x-ms-client-principal', 'x-ms-token-', 'x-pomerium-', 'x-proxy-ext-'],
    ...['x-remote-', 'x-replit-user-', 'x-sandstorm-', 'x-ssl-', 'x-tls-client-', 'x-token-'],
    ...['x-vouch-', 'x-webauth-'],
  ],
});

/** Response fields that the gateway or its transport decides about: no Route can pass on an upstream's. */
export const GATEWAY_RESPONSE_FIELDS = new FieldList({
  names: new Set([
    ...HOP_BY_HOP_FIELDS,
    ...['content-length', 'mcp-session-id', 'set-cookie', 'trailer', 'x-request-id'],
  ]),
  prefixes: ['x-gateway-'],
});

/**
 * Response fields that act on more than the response: on the whole host in the browser, which other routes
 * and the gateway share, or on a server in front of the gateway.
 */
export const FOREIGN_RESPONSE_FIELDS = new FieldList({
  names: new Set([
    // The whole host.
    ...['alt-svc', 'clear-site-data', 'nel', 'public-key-pins', 'public-key-pins-report-only'],
    'service-worker-allowed',
    // A server in front of the gateway. `X-Accel-Buffering` passes: event streams need it.
    ...['x-accel-charset', 'x-accel-expires', 'x-accel-limit-rate', 'x-accel-redirect'],
    ...['x-lighttpd-send-file', 'x-lighttpd-send-tempfile', 'x-litespeed-location'],
    ...['x-reproxy-file', 'x-reproxy-url', 'x-sendfile', 'x-sendfile2'],
  ]),
  prefixes: ['x-envoy-'],
});

/** Returns the name by which CGI and WSGI know a field: `X_Remote_User` and `X-Remote-User` are one. */
export function foldFieldName(lower: string): string {
  return NOT_PLAIN.test(lower) ? lower.replaceAll(/[^a-z\d-]/g, '-') : lower;
}

const NOT_PLAIN = /[^a-z\d-]/;
