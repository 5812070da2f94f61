import type { GatewaySettings } from '../../../crds/types.ts';
import type { Problem } from '../../validate/problem.ts';
import { namespaceOf } from '../resources.ts';
import type { CertificateDirectory, FoundCertificate } from './certificate-directory.ts';
import { validityOf, type CertificateValidity } from './certificate-validity.ts';

/** The resolved default certificate. The settings serve all the same if it cannot be used. */
export interface DefaultCertificate {
  /** `namespace/name` of its Secret, also while that is missing. Undefined if the settings name none. */
  readonly name: string | undefined;
  readonly certificates: readonly CertificateValidity[];
  readonly problems: readonly Problem[];
}

const PATH = 'spec.defaultCertificateRef';

/** Resolves the reference of the settings to their default certificate. */
export function resolveDefaultCertificate(
  settings: GatewaySettings,
  directory: CertificateDirectory,
): DefaultCertificate {
  const { defaultCertificateRef: ref } = settings.spec;
  if (ref === undefined) return { name: undefined, certificates: [], problems: [] };
  const name = `${namespaceOf(settings)}/${ref.name}`;
  const served = directory.served(name);
  const problem = problemOf(name, directory.find(name));
  return {
    name,
    certificates: served === undefined ? [] : [validityOf(name, served)],
    problems: problem === undefined ? [] : [{ path: PATH, ...problem }],
  };
}

function problemOf(name: string, found: FoundCertificate): Omit<Problem, 'path'> | undefined {
  switch (found.kind) {
    case 'found':
      return undefined;
    case 'problem':
      return found.problem;
    case 'missing':
      return { reason: 'SecretNotFound', message: `there is no Secret ${name}` };
  }
}
