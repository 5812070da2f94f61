/** Fields of the specification's authorization log record, in its order. */
const SPECIFIED_LOG_FIELDS = [
  'mcp-method',
  'mcp-tool',
  'mcp-tool-parameters',
  'request-id',
  'user',
  'email',
  'allow',
  'allow-why-true',
  'allow-why-false',
  'deny',
  'deny-why-true',
  'deny-why-false',
  'level',
  'service',
  'time',
  'message',
] as const;

/** Fields that `authorize_log_fields` may name besides `headers.<Name>`, in the order of a line. */
export const AUTHORIZE_LOG_FIELDS = [
  ...SPECIFIED_LOG_FIELDS,
  'method',
  'host',
  'path',
  'query',
  'query-values',
  'ip',
  'route',
  'session-id',
  'trace-id',
] as const;

/**
 * The fields of the authorization log unless the settings name others. Those about MCP are logged only if they are
 * named (specification: Events).
 */
export const DEFAULT_AUTHORIZE_LOG_FIELDS = SPECIFIED_LOG_FIELDS.filter(
  (field) => !field.startsWith('mcp-'),
);

/** Fields that `accessLog.fields` may name besides `headers.<Name>`, in the order of a line. */
export const ACCESS_LOG_FIELDS = [
  'level',
  'service',
  'time',
  'message',
  'request-id',
  'method',
  'host',
  'path',
  'query',
  'query-values',
  'ip',
  'route',
  'status',
  'bytes',
  'ended',
  'reason',
  'upstream',
  'first-byte-ms',
  'upstream-ms',
  'gateway-ms',
  'duration-ms',
  'trace-id',
] as const;

/** The fields of the access log unless the settings name others: nothing that is about a person. */
export const DEFAULT_ACCESS_LOG_FIELDS = [
  'level',
  'service',
  'time',
  'message',
  'request-id',
  'method',
  'host',
  'path',
  'route',
  'status',
  'bytes',
  'ended',
  'reason',
  'upstream',
  'first-byte-ms',
  'upstream-ms',
  'gateway-ms',
  'duration-ms',
] as const satisfies readonly AccessLogField[];

/** A header field of the request. */
export type LoggedHeader = `headers.${string}`;

/** A field that `authorize_log_fields` may name. */
export type AuthorizeLogField = (typeof AUTHORIZE_LOG_FIELDS)[number] | LoggedHeader;

/** A field that `accessLog.fields` may name. */
export type AccessLogField = (typeof ACCESS_LOG_FIELDS)[number] | LoggedHeader;

/** Which requests the access log has: those that were refused or failed, or all. */
export type AccessLogMode = 'None' | 'Errors' | 'All';

/** The access log of a gateway. */
export interface CompiledAccessLog {
  readonly mode: AccessLogMode;
  readonly fields: readonly AccessLogField[];
}

/** Returns the pattern of the names of these fields and of `headers.<Name>`, as a CRD has it. */
export function logFieldPattern(fields: readonly string[]): string {
  return `^(${fields.join('|')}|headers\\.[A-Za-z0-9][-._A-Za-z0-9]{0,62})$`;
}
