import { isRecord } from '../../shared/runtime/is-record.ts';
import { compilePolicy } from '../compile/policy/compile-policy.ts';
import type { ResourceProblem } from '../validate/problem.ts';
import { displayName, readResourceId, type ResourceId } from '../validate/resource-id.ts';
import { validateResource, type Resource } from '../validate/validate-resource.ts';
import { overrideSettings, type Override } from './environment-overrides.ts';
import { ENVIRONMENT_PLACE, type LocatedProblem } from './located-problem.ts';
import { writtenPath, type SourcePlace } from './origins.ts';
import type { SourceDocument } from './parse-documents.ts';
import { isPlainForm } from './plain/is-plain-form.ts';
import { inPlainWords } from './plain/plain-words.ts';
import type { SecretFiles } from './plain/secret-files.ts';
import type { PlainProblem } from './plain/translate-keys.ts';
import { EMPTY_SETTINGS, translatePlainForm } from './plain/translate-plain-form.ts';
import type { ConfigurationFile, Contents } from './read-contents.ts';

/** A resource in the present version of a file: valid, or with its problems. */
export interface Candidate {
  /** Undefined if the kind is unknown or cannot be read. */
  readonly kind: Resource['kind'] | undefined;
  /** Undefined if the namespace or name cannot be read. */
  readonly id: ResourceId | undefined;
  readonly file: string;
  /** Absent if there are problems. */
  readonly resource?: Resource;
  /** The resource without its unreadable parts, only to find further problems. */
  readonly draft?: Resource;
  readonly problems: readonly LocatedProblem[];
  /** Adds the place in the file to a problem with this resource. */
  readonly locate: (problem: ResourceProblem) => LocatedProblem;
  /** Writes names of fields in a message in the form in which the resource is written. */
  readonly inItsWords: (message: string) => string;
}

/** The present contents of all files. */
export interface Candidates {
  readonly resources: readonly Candidate[];
  /** Problems of files that cannot be read or parsed, by file. */
  readonly brokenFiles: ReadonlyMap<string, readonly LocatedProblem[]>;
}

/** Reads the resources in files. Never throws: every error becomes a problem. */
export function readCandidates(contents: Contents, overrides: readonly Override[]): Candidates {
  const broken = contents.files.filter(({ parsed }) => parsed.syntaxProblems.length > 0);
  const written = contents.files
    .flatMap(({ parsed }) => parsed.documents)
    .flatMap((document) => readDocument(document, contents.secretFiles));
  // An unreadable document may be the settings.
  const hasSettings =
    broken.length > 0 ||
    written.some(({ manifest }) => isSettings(manifest) || kindOf(manifest) === undefined);
  return {
    resources: [...written, ...(hasSettings ? [] : [DEFAULT_SETTINGS])].map((manifest) =>
      candidateOf(manifest, overrides),
    ),
    brokenFiles: new Map(
      broken.map((file) => [file.name, [...syntaxProblems(file), ...problemsBeside(file)]]),
    ),
  };

  /** Returns the problems of resources in a broken file, which are not used but reported. */
  function problemsBeside({ parsed }: ConfigurationFile): readonly LocatedProblem[] {
    return parsed.readable
      .flatMap((document) => readDocument(document, contents.secretFiles))
      .flatMap((manifest) => candidateOf(manifest, overrides).problems);
  }
}

const POLICY_PATH = 'spec.policy';
const KINDS = ['Route', 'GatewaySettings', 'Secret', 'ConfigMap'] as const;

/** A manifest, with the data that locates its problems. */
interface Written {
  readonly manifest: unknown;
  readonly source: SourceDocument | undefined;
  readonly isPlain: boolean;
  readonly origins: readonly SourcePlace[];
  readonly problems: readonly PlainProblem[];
  /** Replaces the name in problems of a resource with an unreadable name. */
  readonly unnamed?: string;
}

/** The settings if no file has any: the defaults, with values from the environment. */
const DEFAULT_SETTINGS: Written = {
  manifest: EMPTY_SETTINGS,
  source: undefined,
  isPlain: false,
  origins: [],
  problems: [],
};

function readDocument(source: SourceDocument, secretFiles: SecretFiles): readonly Written[] {
  const { value } = source;
  if (!isPlainForm(value)) {
    return [{ manifest: value, source, isPlain: false, origins: [], problems: [] }];
  }
  const manifests = translatePlainForm(value, source.file, secretFiles);
  return manifests.map((manifest) => ({ ...manifest, source, isPlain: true }));
}

function candidateOf(written: Written, overrides: readonly Override[]): Candidate {
  const { source, problems: known, unnamed } = written;
  const { manifest, origins } = isSettings(written.manifest)
    ? overrideSettings(written.manifest, overrides)
    : { manifest: written.manifest, origins: [] };
  const locate = locator({ ...written, origins: [...written.origins, ...origins] });
  const id = unnamed === undefined ? readResourceId(manifest) : undefined;
  const place = unnamed ?? 'manifest';
  const name = id === undefined ? place : displayName(id);
  const own = known.map(({ path, message }) =>
    locateWritten(source, { resource: name, path, reason: 'InvalidSpec', message }),
  );
  const validation = validateResource(manifest, place);
  const kind = kindOf(manifest);
  const file = source?.file ?? ENVIRONMENT_PLACE;
  const base = { kind, id, file, locate, inItsWords: wordsOf(written) };
  if (validation.kind === 'invalid') {
    const found = [...validation.problems, ...policyProblems(manifest, validation.problems)];
    const located = found.map((problem) => locate({ ...problem, resource: name }));
    return { ...base, problems: [...own, ...located] };
  }
  const { resource } = validation;
  const isGood = own.length === 0 && id !== undefined;
  return isGood ? { ...base, resource, problems: [] } : { ...base, draft: resource, problems: own };
}

/** Problems of the policy in an invalid manifest, which the compiler does not see. */
function policyProblems(
  manifest: unknown,
  known: readonly ResourceProblem[],
): readonly ResourceProblem[] {
  const spec = isRecord(manifest) ? manifest['spec'] : undefined;
  const policy = isRecord(spec) ? spec['policy'] : undefined;
  const isKnown = known.some(({ path }) => path.startsWith(POLICY_PATH));
  if (policy === undefined || isKnown) return [];
  const result = compilePolicy(policy, POLICY_PATH);
  if (result.kind === 'made') return [];
  return result.problems.map((problem) => ({ ...problem, resource: '' }));
}

function wordsOf({ isPlain }: Written): Candidate['inItsWords'] {
  return isPlain ? inPlainWords : (message) => message;
}

function locator(written: Written): (problem: ResourceProblem) => LocatedProblem {
  const inItsWords = wordsOf(written);
  return (problem) => {
    const { path, isEnvironment } = writtenPath(problem.path, written.origins);
    if (isEnvironment) return { ...problem, path, file: ENVIRONMENT_PLACE };
    const message = inItsWords(problem.message);
    return locateWritten(written.source, { ...problem, path, message });
  };
}

function locateWritten(
  source: SourceDocument | undefined,
  problem: ResourceProblem,
): LocatedProblem {
  if (source === undefined) return { ...problem, file: ENVIRONMENT_PLACE };
  const { file, number, lineOf } = source;
  return { ...problem, file, document: number, line: lineOf(problem.path) };
}

function kindOf(manifest: unknown): Candidate['kind'] {
  const kind = isRecord(manifest) ? manifest['kind'] : undefined;
  return KINDS.find((known) => known === kind);
}

function isSettings(manifest: unknown): manifest is Readonly<Record<string, unknown>> {
  return isRecord(manifest) && manifest['kind'] === 'GatewaySettings';
}

function syntaxProblems({ name, parsed }: ConfigurationFile): readonly LocatedProblem[] {
  return parsed.syntaxProblems.map(({ document, line, message }) => ({
    file: name,
    ...(document !== undefined && { document }),
    line,
    resource: '',
    path: '',
    reason: 'InvalidManifest',
    message,
  }));
}
