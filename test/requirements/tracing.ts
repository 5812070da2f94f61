import { SPEC, type Requirements } from './requirement.ts';

/** Settings of tracing, and what is traced. */
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
  'tracing.attribute-length': {
    source: SPEC.limits,
    behavior: 'Values of span attributes are cut to the limit.',
  },
  'tracing.requests': {
    source: SPEC.events,
    behavior: 'Spans cover a request, and the request to the upstream that it led to.',
  },
  'tracing.sampler': {
    source: SPEC.events,
    behavior: 'A request has a trace if the sampler admits it.',
  },
  'tracing.sign-ins': {
    source: SPEC.patterns,
    behavior: 'The whole sequence of sign-in redirects and the request that follows are one trace.',
  },
  'tracing.errors': {
    source: SPEC.errors,
    behavior: 'An error in the sign-in, such as a wrong issuer, is a page and is on a span.',
  },
  'tracing.propagation': {
    source: SPEC.events,
    behavior: 'Upstreams get the trace context.',
  },
} as const satisfies Requirements;
