import type { Loaded } from '../../../controller/files/load-configuration.ts';
import type { Environment } from '../../../shared/runtime/environment.ts';
import type { CompiledTracing } from '../../../shared/snapshot/compiled-tracing.ts';
import { readTracingEnvironment } from '../../../shared/telemetry/tracing/settings/read-tracing-environment.ts';
import { resolveTracing } from '../../../shared/telemetry/tracing/settings/resolve-tracing.ts';

/** The path that is appended to a base, and that people write themselves. */
const TWICE = '/v1/traces/v1/traces';

const EXPORTER = 'OTEL_TRACES_EXPORTER';

/** Returns notes about tracing that is valid, and hardly meant: off by half, or sent where nobody listens. */
export function notesOnTracing(loaded: Loaded, environment: Environment): readonly string[] {
  const variables = readTracingEnvironment(environment);
  const written = tracingOf(loaded);
  const { exporter, endpoint } = { ...written, ...variables };
  // Where the settings ask for it without an endpoint, that is a problem already.
  if (exporter === 'otlp' && endpoint === undefined && written?.exporter !== 'otlp') {
    return [
      `note: tracing is off: ${EXPORTER} is otlp in this environment, and no endpoint is set`,
    ];
  }
  if (exporter === undefined && endpoint !== undefined) {
    const field = variables.endpoint === undefined ? exporterField(loaded) : EXPORTER;
    return [`note: tracing is off: an endpoint is set, and ${field} is not otlp`];
  }
  const url = resolveTracing(written, variables)?.endpoint;
  if (url?.endsWith(TWICE) !== true) return [];
  return [
    `note: spans go to ${url}: leave /v1/traces out of the endpoint, to which it is appended`,
  ];
}

function tracingOf({ served }: Loaded): CompiledTracing | undefined {
  const settings = served?.snapshot.resources.get('settings')?.value;
  return settings?.kind === 'settings' ? settings.tracing : undefined;
}

function exporterField({ candidates: { resources } }: Loaded): string {
  const settings = resources.find(({ kind }) => kind === 'GatewaySettings');
  return settings?.inItsWords('tracesExporter') ?? EXPORTER;
}
