import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { parseAllDocuments } from 'yaml';

const CACHE = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');

/** Where `test/support/install-helm.sh` installs. */
const PROGRAMS = join(CACHE, 'gatehouse-helm/v35-2.2.2');
const HELM = join(PROGRAMS, 'helm');

/** kubectl, which is there if helm is. */
export const KUBECTL = join(PROGRAMS, 'kubectl');

/** The chart. */
export const CHART = join(import.meta.dirname, '../../../charts/gatehouse');

/** The reason why helm cannot run here; undefined if it can. */
export const noHelmReason = existsSync(HELM)
  ? undefined
  : `no helm at ${HELM}; test/support/install-helm.sh fetches it on Linux with amd64`;

/** An object that the chart renders. */
export interface RenderedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [member: string]: unknown;
}

/** What `helm template` needs besides values. */
export interface RenderOptions {
  readonly release?: string;
  readonly namespace?: string;
  /** APIs of the cluster, besides those that every cluster has. */
  readonly apiVersions?: readonly string[];
  /** Whether values may be some that the schema refuses. */
  readonly skipsSchema?: boolean;
}

/** The Prometheus Operator is installed. */
export const WITH_PROMETHEUS_OPERATOR: RenderOptions = {
  apiVersions: ['monitoring.coreos.com/v1'],
};

/** Runs helm. Returns its output, and what it says when it fails. */
export function runHelm(
  argv: readonly string[],
  input = '',
): { readonly code: number | null; readonly stdout: string; readonly stderr: string } {
  const { status, stdout, stderr } = spawnSync(HELM, argv, { input, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

/** What was rendered already: tests ask for the same values many times. */
const RENDERED = new Map<string, string>();

/** Renders the chart with values, as text. Throws what helm says if it fails. */
export function renderText(values: object, options: RenderOptions = {}): string {
  const key = JSON.stringify([values, options]);
  const known = RENDERED.get(key);
  if (known !== undefined) return known;
  const rendered = render(values, options);
  RENDERED.set(key, rendered);
  return rendered;
}

function render(
  values: object,
  {
    release = 'gatehouse',
    namespace = 'gatehouse',
    apiVersions = [],
    skipsSchema = false,
  }: RenderOptions = {},
): string {
  const apis = apiVersions.flatMap((version) => ['--api-versions', version]);
  const argv = [
    'template',
    release,
    CHART,
    '--namespace',
    namespace,
    '--values',
    '-',
    ...apis,
    ...(skipsSchema ? ['--skip-schema-validation'] : []),
  ];
  // JSON is valid YAML.
  const { code, stdout, stderr } = runHelm(argv, JSON.stringify(values));
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

/** Renders the chart with values. Throws what helm says if it fails. */
export function renderChart(
  values: object,
  options: RenderOptions = {},
): readonly RenderedObject[] {
  return parseAllDocuments(renderText(values, options)).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(String(document.errors));
    // The chart's objects have this form; what they lack fails the tests that look for it.
    const object = document.toJS() as RenderedObject | null;
    return object === null ? [] : [object];
  });
}

/** Finds one object by kind and name. Throws if there is none. */
export function findObject(
  objects: readonly RenderedObject[],
  kind: string,
  name: string,
): RenderedObject {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name} is rendered`);
  return found;
}
