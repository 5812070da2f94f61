import { SPEC, MCP, type Requirements } from './requirement.ts';

/** The authorization server. */
export const AUTHORIZATION_SERVER = {
  'as.metadata': {
    source: 'RFC 8414, section 3',
    behavior: 'Metadata are served at both well-known names, with and without a path.',
  },
  'as.default-endpoints': {
    source: 'MCP 2025-03-26, Authorization, Fallbacks for Servers without Metadata Discovery',
    behavior: 'The endpoints are also at `/authorize`, `/token` and `/register` of the issuer.',
  },
  'as.default-endpoints-yield': {
    source: 'decision D-059',
    behavior: 'A default path that a Route of the host owns stays the Route’s.',
  },
  'as.metadata-members': {
    source: 'RFC 8414, sections 2 and 3.2',
    behavior: 'Every endpoint, grant type and way to authenticate is named; lists are never empty.',
  },
  'as.metadata-issuer': {
    source: 'RFC 8414, section 3.3; RFC 9207, section 2',
    behavior:
      'The issuer is the origin of `from`, the same string everywhere, never taken from a request.',
  },
  'as.https': {
    source: 'OAuth 2.1, section 1.5',
    behavior: 'An authorization server is https, or on loopback with the development flag.',
  },
  'as.pkce-advertised': {
    source: MCP,
    behavior: '`code_challenge_methods_supported` is S256 in both documents.',
  },
  'as.pkce-required': {
    source: `${MCP}; RFC 7636`,
    behavior: 'PKCE with S256 is required of every client; `plain` is refused.',
  },
  'as.pkce-verifier': {
    source: 'RFC 7636, sections 4.1 and 4.6',
    behavior: 'A verifier has 43 to 128 unreserved characters, and its SHA-256 is the challenge.',
  },
  'as.grant-types': {
    source: 'RFC 9700, sections 2.1.2 and 2.4',
    behavior:
      'Codes and refresh tokens are the only grants: neither the implicit one nor passwords.',
  },
  'as.redirect-uri-exact': {
    source: `${MCP}; OAuth 2.1, section 4.1.1`,
    behavior: 'Redirect URIs match exactly, but for the port of loopback ones.',
  },
  'as.redirect-uri-allowed': {
    source: MCP,
    behavior: 'Redirect URIs are https, loopback, or a private-use scheme; never a script scheme.',
  },
  'as.no-open-redirect': {
    source: `${MCP}; OAuth 2.1, section 7.12.2`,
    behavior:
      'Nothing redirects to a URI that was not validated, or that the user did not agree to.',
  },
  'as.authorization-response': {
    source: 'RFC 6749, section 4.1.2',
    behavior:
      'The answer is added to the redirect URI, whose own query stays; `state` comes back as it was.',
  },
  'as.authorization-errors': {
    source: 'RFC 6749, section 4.1.2.1',
    behavior:
      'A client that is known hears by redirect, with a code of the section, why it gets no code.',
  },
  'as.no-repeated-parameters': {
    source: 'RFC 6749, sections 3.1 and 3.2',
    behavior: 'A parameter that comes twice is refused.',
  },
  'as.redirect-with-get': {
    source: 'RFC 9700, section 4.12',
    behavior: 'A posted form is answered with 303, so that nothing of it is posted on.',
  },
  'as.consent': {
    source: `${MCP}, Security Considerations`,
    behavior: 'The user consents per client, on a page that shows the redirect host.',
  },
  'as.prompt-none': {
    source: 'OpenID Connect Core, sections 3.1.2.1 and 3.1.2.6',
    behavior: 'With `prompt=none` the user is never asked; the client gets an error instead.',
  },
  'as.consent-page-protected': {
    source: 'RFC 9700, section 4.16; MCP Security Best Practices',
    behavior: 'The consent page cannot be framed, and only a click of its user submits its form.',
  },
  'as.consent-request-once': {
    source: 'MCP Security Best Practices',
    behavior: 'A request for consent is answered once, within ten minutes.',
  },
  'as.session-cookie': {
    source: 'MCP Security Best Practices',
    behavior: 'Cookies are `__Host-`, Secure, HttpOnly and SameSite=Lax.',
  },
  'as.client-text-untrusted': {
    source: 'RFC 7591, section 5',
    behavior: 'What a client says of itself is shown as plain text.',
  },
  'as.resource': {
    source: 'RFC 8707, section 2',
    behavior: '`resource` binds the audience; an unknown one is `invalid_target`.',
  },
  'as.iss': {
    source: 'RFC 9207, section 2',
    behavior: 'Authorization responses, errors included, carry `iss`, and metadata say so.',
  },
  'as.code-grant': {
    source: 'OAuth 2.1, section 4.1',
    behavior: 'A code is redeemed for tokens, by public clients and by confidential ones.',
  },
  'as.code-single-use': {
    source: 'RFC 9700, section 4.5',
    behavior: 'A code is used once; its reuse revokes what it gave.',
  },
  'as.code-short-lived': {
    source: 'RFC 6749, section 4.1.2',
    behavior: 'A code is good for a minute.',
  },
  'as.code-bound': {
    source: 'RFC 6749, section 4.1.3',
    behavior: 'A code is good for its client, redirect URI, issuer and verifier only.',
  },
  'as.client-authentication': {
    source: 'RFC 6749, section 2.3',
    behavior: 'Confidential clients authenticate; failure is 401 `invalid_client`.',
  },
  'as.client-assertion': {
    source: 'RFC 7523, section 3',
    behavior:
      'An assertion counts once: of and by the client, for this server, signed by its key, in time.',
  },
  'as.parameters-in-body': {
    source: 'OAuth 2.1, sections 2.4.1 and 3.2',
    behavior: 'Token and revocation requests are posted; nothing of them is taken from the query.',
  },
  'as.token-errors': {
    source: 'RFC 6749, section 5.2',
    behavior: 'A token request that fails is answered with 400 or 401 and a code of the section.',
  },
  'as.replay-detection': {
    source: 'OAuth 2.1, section 4.3',
    behavior: 'Replay of a rotated refresh token revokes its family.',
  },
  'as.refresh-grace': {
    source: 'docs/decisions.md: D-052',
    behavior: 'Within the grace a rotated token gives the same successor: a family never branches.',
  },
  'as.refresh-token-bound': {
    source: 'OAuth 2.1, section 4.3',
    behavior: 'A refresh token is good for its own client only.',
  },
  'as.refresh-token-expires': {
    source: 'OAuth 2.1, section 4.3; RFC 9700, section 4.14.2',
    behavior: 'A refresh token that is not used expires.',
  },
  'as.grant-active': {
    source: 'OAuth 2.1, section 4.3',
    behavior: 'Tokens and codes end with their grant and their session.',
  },
  'as.bound-to-issuer': {
    source: 'docs/tokens.md',
    behavior: 'What is registered or issued at one host means nothing at another.',
  },
  'as.scope-not-exceeded': {
    source: 'OAuth 2.1, section 4.3',
    behavior: 'A refreshed scope never exceeds the granted one.',
  },
  'as.no-store': {
    source: 'RFC 6749, section 5.1',
    behavior: 'Responses with tokens are never cached.',
  },
  'as.token-integrity': {
    source: 'RFC 6750, section 5.2',
    behavior: 'An external token can be neither read, nor changed, nor made up.',
  },
  'as.secrets-unreadable': {
    source: `${MCP}, Security Considerations`,
    behavior: 'Neither stores nor logs have a token, code or client secret that could be used.',
  },
  'as.registration': {
    source: 'RFC 7591, section 3',
    behavior: 'A client registers itself: 201 with everything that was registered.',
  },
  'as.registration-ids': {
    source: 'OAuth Client ID Metadata Document, section 6.9',
    behavior: 'Ids of registered clients are the gateway’s own, unique, and never URLs.',
  },
  'as.registration-defaults': {
    source: 'RFC 7591, section 2',
    behavior:
      'Left out, the way to authenticate is Basic, the grant is the code; a secret is issued.',
  },
  'as.registration-unknown-members': {
    source: 'RFC 7591, section 2',
    behavior: 'What is not understood in metadata is left out, and held against nobody.',
  },
  'as.registration-errors': {
    source: 'RFC 7591, section 3.2.2',
    behavior: 'Bad metadata are `invalid_client_metadata` or `invalid_redirect_uri`.',
  },
  'as.registration-rate-limited': {
    source: 'RFC 7591, section 5',
    behavior: 'Registration is limited per address of clients, over all proxies.',
  },
  'as.registration-expires': {
    source: 'RFC 7591, section 5',
    behavior: 'Registrations that no user approves, or nobody uses, are forgotten.',
  },
  'as.application-type': {
    source: MCP,
    behavior: '`application_type` is kept, and forbids no redirect URI that is otherwise allowed.',
  },
  'as.metadata-document-checked': {
    source: 'OAuth Client ID Metadata Document, sections 4 and 6',
    behavior: 'A document counts only when it is about its own URL, whole, and without secrets.',
  },
  'as.metadata-document-advertised': {
    source: MCP,
    behavior: 'Metadata offer URL client IDs where domains are allowed for them, and only there.',
  },
  'as.metadata-document-url': {
    source: 'OAuth Client ID Metadata Document, section 3',
    behavior: 'A URL client ID is https with a path, without dot segments, fragment and user.',
  },
  'as.metadata-document-redirect-uris': {
    source: 'OAuth Client ID Metadata Document, section 4.5',
    behavior: 'The redirect URI of a URL client ID is one of its document’s.',
  },
  'as.metadata-document-failure': {
    source: 'OAuth Client ID Metadata Document, section 4.3',
    behavior: 'Where a document cannot be had, the request ends on a page, never on a redirect.',
  },
  'as.metadata-document-keys': {
    source: 'OAuth Client ID Metadata Document, section 6.2',
    behavior: 'A client with keys in its document authenticates with them.',
  },
  'as.metadata-document-guarded': {
    source: 'OAuth Client ID Metadata Document, section 6.5; RFC 9728, section 7.7',
    behavior: 'Fetching a document reaches no special-purpose address and follows no redirect.',
  },
  'as.metadata-document-size': {
    source: 'OAuth Client ID Metadata Document, section 6.6',
    behavior: 'A document has at most 5 kilobytes.',
  },
  'as.client-keys-guarded': {
    source: 'OAuth Client ID Metadata Document, section 6.5',
    behavior: 'Keys of clients are fetched from allowed domains, under the same guard.',
  },
  'as.metadata-document-cached': {
    source: 'OAuth Client ID Metadata Document, section 4.4',
    behavior: 'Documents are cached within bounds, errors never.',
  },
  'as.revocation': {
    source: 'RFC 7009, section 2',
    behavior: 'A client revokes its own tokens; unknown ones answer 200.',
  },
  'as.revocation-of-grant': {
    source: 'RFC 7009, section 2.1',
    behavior: 'A revoked refresh token takes its grant and every token of it along.',
  },
  'as.cors': {
    source: 'MCP clients in browsers',
    behavior: 'Metadata, registration, token and revocation endpoints answer any origin.',
  },
  'client-id.domain-checked-first': {
    source: SPEC.global,
    behavior: 'The domain of a URL client ID is checked before its document is fetched.',
  },
  'client-id.wildcard': {
    source: SPEC.global,
    behavior: '`*.<domain>` matches subdomains but not the bare domain.',
  },
  'client-id.url': {
    source: SPEC.authentication,
    behavior: 'A client ID may be the URL of a client ID metadata document.',
  },
} as const satisfies Requirements;
