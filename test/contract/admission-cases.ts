import { validateResource, type Validation } from '../../controller/validate/validate-resource.ts';
import { BROKEN_ROUTES, BROKEN_SETTINGS } from '../support/manifests/broken-rules.ts';
import { routeWith, settingsWith } from '../support/manifests/manifest-with.ts';
import type { InvalidManifest } from '../support/manifests/invalid-manifest.ts';
import { INVALID_ROUTES, INVALID_SETTINGS } from '../support/manifests/invalid-manifests.ts';
import { VALID_ROUTES, VALID_SETTINGS } from '../support/manifests/valid-manifests.ts';

/** A manifest, and the result of our own validator. */
export interface AdmissionCase {
  readonly title: string;
  readonly manifest: Readonly<Record<string, unknown>>;
  /** Everything wrong with it; empty if it is to be admitted. */
  readonly problems: readonly { readonly path: string; readonly message: string }[];
}

const ALL: readonly AdmissionCase[] = [
  ...[...VALID_ROUTES, ...textsOf(INVALID_ROUTES), ...Object.values(BROKEN_ROUTES).flat()].map(
    (yaml) => admissionCase(`a Route with ${yaml}`, routeWith(yaml)),
  ),
  ...[
    ...VALID_SETTINGS,
    ...textsOf(INVALID_SETTINGS),
    ...Object.values(BROKEN_SETTINGS).flat(),
  ].map((yaml) => admissionCase(`GatewaySettings with ${yaml}`, settingsWith(yaml))),
];

const RULES = new Set([...Object.keys(BROKEN_ROUTES), ...Object.keys(BROKEN_SETTINGS)]);

/** Manifests without a problem. */
export const ADMITTED = ALL.filter(({ problems }) => problems.length === 0);

/** Manifests that are invalid by a rule in CEL. */
export const AGAINST_RULES = casesWhere((message) => RULES.has(message));

/** Manifests that have an unknown field. */
export const WITH_UNKNOWN_FIELDS = casesWhere(isUnknownField);

/** Manifests that are invalid by the rest of a schema. */
export const AGAINST_SCHEMA = casesWhere(
  (message) => !RULES.has(message) && !isUnknownField(message),
);

function admissionCase(title: string, manifest: AdmissionCase['manifest']): AdmissionCase {
  return { title, manifest, problems: problemsOf(validateResource(manifest, title)) };
}

function problemsOf(validation: Validation): AdmissionCase['problems'] {
  return validation.kind === 'valid' ? [] : validation.problems;
}

function textsOf(refused: readonly InvalidManifest[]): readonly string[] {
  return refused.map(([yaml]) => yaml);
}

function casesWhere(isAbout: (message: string) => boolean): readonly AdmissionCase[] {
  return ALL.filter(({ problems }) => problems.some(({ message }) => isAbout(message)));
}

function isUnknownField(message: string): boolean {
  return message.startsWith('is not a known field');
}
