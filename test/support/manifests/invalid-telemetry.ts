import { ACCESS_LOG_FIELDS, AUTHORIZE_LOG_FIELDS } from '../../../shared/snapshot/log-fields.ts';
import type { InvalidManifest } from './invalid-manifest.ts';

/** Changes of a GatewaySettings' spec about logs and tracing that make it invalid by its schema. */
export const INVALID_TELEMETRY: readonly InvalidManifest[] = [
  [
    'authorizeLogFields: [user, shoe-size]',
    `spec.authorizeLogFields[1]: must be one of ${AUTHORIZE_LOG_FIELDS.join(', ')}, or headers.NAME with the name of a header field`,
  ],
  [
    'accessLog: { fields: [mcp-tool] }',
    `spec.accessLog.fields[0]: must be one of ${ACCESS_LOG_FIELDS.join(', ')}, or headers.NAME with the name of a header field`,
  ],
  ['accessLog: { mode: Some }', 'spec.accessLog.mode: must be one of None, Errors, All'],
  ['tracing: { tracesExporter: zipkin }', 'spec.tracing.tracesExporter: must be one of otlp, none'],
  ...['collector:4317', 'http://a@b.example', 'http://b.example?a=b', 'grpc://b.example'].map(
    (url): InvalidManifest => [
      `tracing: { endpoint: '${url}' }`,
      'spec.tracing.endpoint: must be an http or https URL without user, query and fragment',
    ],
  ),
  [
    `tracing: { tracesEndpoint: 'http://b.example/#a' }`,
    'spec.tracing.tracesEndpoint: must be an http or https URL without user and fragment',
  ],
  ...['protocol', 'tracesProtocol'].map((field): InvalidManifest => [
    `tracing: { ${field}: http }`,
    `spec.tracing.${field}: must be one of grpc, http/protobuf, http/json`,
  ]),
  [
    'tracing: { headers: [{ name: "a b", value: c }] }',
    'spec.tracing.headers[0].name: must be the name of a header field such as X-Real-IP',
  ],
  [
    'tracing: { tracesHeaders: [{ name: a, value: b }, { name: a, value: c }] }',
    'spec.tracing.tracesHeaders[1]: has the same name as an earlier item',
  ],
  ['tracing: { timeoutMilliseconds: 0 }', 'spec.tracing.timeoutMilliseconds: must be at least 1'],
  ...["'-1'", 'half', '0.25'].map((text): InvalidManifest => [
    `tracing: { samplerArg: ${text} }`,
    'spec.tracing.samplerArg: must be a number from 0 to 1 in quotes, such as "0.25"',
  ]),
  [
    'tracing: { bspScheduleDelayMilliseconds: 99 }',
    'spec.tracing.bspScheduleDelayMilliseconds: must be at least 100',
  ],
  [
    'tracing: { bspMaxExportBatchSize: 0 }',
    'spec.tracing.bspMaxExportBatchSize: must be at least 1',
  ],
  [
    'tracing: { logLevel: trace }',
    'spec.tracing.logLevel: must be one of none, error, warn, info, debug, verbose, all',
  ],
  [
    'tracing: { attributeValueLengthLimit: 0 }',
    'spec.tracing.attributeValueLengthLimit: must be at least 1',
  ],
  [
    'tracing: { incomingContext: Always }',
    'spec.tracing.incomingContext: must be one of TrustedProxies, NewTrace',
  ],
];
