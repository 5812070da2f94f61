/** One rule the product promises to keep. */
export interface Requirement {
  /** The specification's heading, or the document and section. */
  readonly source: string;
  readonly behavior: string;
}

/** Requirements by their id. */
export type Requirements = Readonly<Record<string, Requirement>>;

/** Headings of the specification. */
export const SPEC = {
  route: 'specification: Route',
  mcpServer: 'specification: MCP server configuration',
  upstreamOauth: 'specification: Upstream OAuth pipeline',
  patterns: 'specification: What the service does',
  global: 'specification: Global MCP settings',
  tokens: 'specification: Tokens',
  assertion: 'specification: Identity assertion',
  log: 'specification: Authorization log record',
  tracing: 'specification: Tracing settings',
  bearerSetting: 'specification: Bearer token format setting',
  bearer: 'specification: Bearer token format rules',
  policy: 'specification: Authorization policy for MCP',
  endpoints: 'specification: Endpoints',
  authentication: 'specification: Authentication',
  errors: 'specification: Errors',
  events: 'specification: Events',
  limits: 'specification: Limits',
  states: 'specification: States and transitions',
} as const;

/** Source of what MCP requires of authorization. */
export const MCP = 'MCP 2026-07-28, Authorization';
/** Source of what MCP requires of the transport. */
export const TRANSPORT = 'MCP, Streamable HTTP';
