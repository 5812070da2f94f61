import type { GatewaySettings } from '../../crds/types.ts';
import type { CompiledTracing, OtlpEndpoint } from '../../shared/snapshot/compiled-tracing.ts';
import { withoutAbsent } from '../../shared/runtime/without-absent.ts';
import { exportHeaderFault } from '../../shared/telemetry/tracing/settings/export-header.ts';
import type { Problem } from '../validate/problem.ts';
import { memberPath } from '../validate/field-path.ts';
import { all, andThen, combine, invalid, made, type CompileResult } from './compile-result.ts';
import { resolveSecret } from './resolve-secret.ts';
import { namespaceOf, type CompileOptions, type Secrets } from './resources.ts';

type Tracing = NonNullable<GatewaySettings['spec']['tracing']>;
type Header = NonNullable<Tracing['headers']>[number];

const PATH = 'spec.tracing';

/** What the settings say about tracing, and what is wrong with it. */
export interface TracingOutput {
  /** Absent if the settings say nothing, or something in it cannot be used. */
  readonly tracing?: CompiledTracing;
  readonly problems: readonly Problem[];
}

/**
 * Compiles what the settings say about tracing.
 *
 * Problems do not make the settings invalid: a mistake in tracing must not take the gateway down.
 */
export function compileTracing(
  settings: GatewaySettings,
  secrets: Secrets,
  { secrets: present, tracingEnvironment: environment = {} }: CompileOptions,
): TracingOutput {
  const { tracing: written } = settings.spec;
  // Where Secrets are missing on purpose, the question is who may do what.
  if (written === undefined || present === 'assumed') return { problems: [] };
  const result = compileParts(settings, written, secrets);
  if (result.kind === 'invalid') {
    return {
      problems: result.problems.map(({ path, message }) =>
        unusable(path, `${message}; tracing is off`),
      ),
    };
  }
  const { value: tracing } = result;
  const { exporter, endpoint } = { ...tracing, ...environment };
  const lacksEndpoint = tracing.exporter === 'otlp' && exporter === 'otlp' && !endpoint;
  return { tracing, problems: lacksEndpoint ? [LACKS_ENDPOINT] : [] };
}

/** The exporter is kept: the environment of a process may have the endpoint. */
const LACKS_ENDPOINT = unusable(
  `${PATH}.endpoint`,
  'is required for tracesExporter otlp; tracing is off wherever OTEL_EXPORTER_OTLP_ENDPOINT is not set',
);

function unusable(path: string, message: string): Problem {
  return { path, reason: 'TracingNotUsable', message };
}

function compileParts(
  settings: GatewaySettings,
  tracing: Tracing,
  secrets: Secrets,
): CompileResult<CompiledTracing> {
  const parts = combine({
    endpoint: compileEndpoint(tracing),
    headers: compileHeaders(settings, tracing, secrets),
  });
  return andThen(parts, ({ endpoint, headers }) =>
    made(
      withoutAbsent<CompiledTracing>({
        exporter: tracing.tracesExporter,
        endpoint,
        headers,
        protocol: tracing.tracesProtocol ?? tracing.protocol,
        timeoutMs: tracing.tracesTimeoutMilliseconds ?? tracing.timeoutMilliseconds,
        samplingRatio: tracing.samplerArg === undefined ? undefined : Number(tracing.samplerArg),
        resourceAttributes: compileAttributes(tracing),
        scheduleDelayMs: tracing.bspScheduleDelayMilliseconds,
        maxExportBatchSize: tracing.bspMaxExportBatchSize,
        logLevel: tracing.logLevel,
        attributeValueLengthLimit: tracing.attributeValueLengthLimit,
        incomingContext: tracing.incomingContext,
      }),
    ),
  );
}

function compileEndpoint(tracing: Tracing): CompileResult<OtlpEndpoint | undefined> {
  const isComplete = tracing.tracesEndpoint !== undefined;
  const url = tracing.tracesEndpoint ?? tracing.endpoint;
  if (url === undefined) return made(undefined);
  if (URL.canParse(url)) return made({ url, isComplete });
  const path = `${PATH}.${isComplete ? 'tracesEndpoint' : 'endpoint'}`;
  return invalid(path, 'InvalidSpec', 'must be a URL such as http://collector.example.com:4317');
}

function compileHeaders(
  settings: GatewaySettings,
  { headers, tracesHeaders }: Tracing,
  secrets: Secrets,
): CompileResult<Readonly<Record<string, string>> | undefined> {
  const list = tracesHeaders ?? headers;
  if (list === undefined) return made(undefined);
  const path = `${PATH}.${tracesHeaders === undefined ? 'headers' : 'tracesHeaders'}`;
  const namespace = namespaceOf(settings);
  const values = list.map((header, index) =>
    compileHeader(header, { namespace, path: memberPath(path, index), secrets }),
  );
  return andThen(all(values), (pairs) => made(Object.fromEntries(pairs)));
}

function compileHeader(
  { name, value, valueFrom }: Header,
  place: Parameters<typeof resolveSecret>[1],
): CompileResult<readonly [name: string, value: string]> {
  const text =
    valueFrom === undefined
      ? made(value ?? '')
      : resolveSecret(valueFrom.secretKeyRef, { ...place, path: `${place.path}.valueFrom` });
  return andThen(text, (known) => {
    const fault = exportHeaderFault(name, known);
    return fault === undefined
      ? made([name.toLowerCase(), known])
      : invalid(place.path, 'UnsupportedValue', fault);
  });
}

function compileAttributes({
  resourceAttributes,
}: Tracing): Readonly<Record<string, string>> | undefined {
  return (
    resourceAttributes &&
    Object.fromEntries(resourceAttributes.map(({ name, value }) => [name, value]))
  );
}
