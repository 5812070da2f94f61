import { SPEC, type Requirements } from './requirement.ts';

/** Settings of tracing. */
export const TRACING = {
  'tracing.variables': {
    source: SPEC.tracing,
    behavior: 'Each of the eleven settings is an environment variable.',
  },
  'tracing.keys': {
    source: SPEC.tracing,
    behavior: 'The key in the configuration file is the name of the variable in lower case.',
  },
  'tracing.defaults': {
    source: SPEC.tracing,
    behavior: 'Defaults: no exporter, 10 s, everything sampled, 5 s, 512 spans, `info`, 256.',
  },
  'tracing.traces-spelling': {
    source: SPEC.tracing,
    behavior: 'Endpoint, protocol, header fields and timeout have a variable for traces too.',
  },
  'tracing.protocol-inferred': {
    source: SPEC.tracing,
    behavior: 'Without a protocol, port 4317 means gRPC and 4318 HTTP; otherwise http/protobuf.',
  },
  'tracing.ranges': {
    source: SPEC.tracing,
    behavior: 'Delay at least 100, batch at least 1, sampling from 0 to 1.',
  },
  'tracing.pairs': {
    source: SPEC.tracing,
    behavior: 'Lists of `key=value`: separated by commas in variables, a list in the file.',
  },
} as const satisfies Requirements;
