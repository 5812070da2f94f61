import type { GatewaySettings } from '../../crds/types.ts';
import type { CompiledTracing, OtlpEndpoint } from '../../shared/snapshot/compiled-tracing.ts';
import { withoutAbsent } from '../../shared/runtime/without-absent.ts';
import { exportHeaderFault } from '../../shared/telemetry/tracing/settings/export-header.ts';
import { memberPath } from '../validate/field-path.ts';
import { all, andThen, combine, invalid, made, type CompileResult } from './compile-result.ts';
import { resolveSecret } from './resolve-secret.ts';
import { namespaceOf, type Secrets } from './resources.ts';

type Tracing = NonNullable<GatewaySettings['spec']['tracing']>;
type Header = NonNullable<Tracing['headers']>[number];

const PATH = 'spec.tracing';

/** Compiles what the settings say about tracing; undefined if they say nothing. */
export function compileTracing(
  settings: GatewaySettings,
  secrets: Secrets,
): CompileResult<CompiledTracing | undefined> {
  const { tracing } = settings.spec;
  if (tracing === undefined) return made(undefined);
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
      ? made([name, known])
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
