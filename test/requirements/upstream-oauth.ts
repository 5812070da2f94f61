import { MCP, SPEC, type Requirements } from './requirement.ts';

/** The gateway as a client of the authorization servers of upstreams. */
export const UPSTREAM_OAUTH = {
  'upstream-oauth.discovered': {
    source: SPEC.upstreamOauth,
    behavior:
      'Without settings, the gateway discovers the authorization server, and registers once.',
  },
  'upstream-oauth.given-credentials': {
    source: SPEC.upstreamOauth,
    behavior: 'With given credentials, the gateway discovers the endpoints, and does not register.',
  },
  'upstream-oauth.given-endpoints': {
    source: SPEC.upstreamOauth,
    behavior: 'With given credentials and endpoints, the gateway discovers nothing.',
  },
  'upstream-oauth.forgotten-registration': {
    source: SPEC.upstreamOauth,
    behavior: 'A registration that the server forgot is replaced once.',
  },
  'upstream-oauth.fallback-issuer': {
    source: SPEC.mcpServer,
    behavior:
      '`authorization_server_url` is the issuer if the metadata of the resource cannot be had.',
  },
  'upstream-oauth.metadata-document': {
    source: MCP,
    behavior: 'Where the server takes metadata documents, the gateway’s own is its client ID.',
  },
  'upstream-oauth.misbehaving': {
    source: 'docs/upstream-oauth.md',
    behavior:
      'Whatever the authorization server does, the application and the waiting client get an error of OAuth.',
  },
  'upstream-oauth.resource': {
    source: 'RFC 8707',
    behavior:
      'Authorization, token and refresh requests name the resource, unless the route says otherwise.',
  },
  'upstream-oauth.official-suite': {
    source: MCP,
    behavior:
      'Towards an authorization server, the gateway behaves as the official conformance suite demands of clients.',
  },
} as const satisfies Requirements;
