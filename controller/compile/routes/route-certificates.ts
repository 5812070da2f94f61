import type { Route } from '../../../crds/types.ts';
import { coversHost } from '../../../shared/snapshot/certificate-hosts.ts';
import { memberPath } from '../../validate/field-path.ts';
import type { Problem } from '../../validate/problem.ts';
import type { ServiceLookup } from '../backends/service-lookup.ts';
import type { CertificateDirectory } from '../certificates/certificate-directory.ts';
import { validityOf, type CertificateValidity } from '../certificates/certificate-validity.ts';
import { namespaceOf } from '../resources.ts';

/** The reference of a route to a certificate. */
export interface CertificateRef {
  readonly path: string;
  readonly namespace: string;
  readonly name: string;
  /** `namespace/name` of the Secret. */
  readonly secret: string;
}

/** The resolved references of a route to certificates. It serves all the same if none can be used. */
export interface ResolvedCertificates {
  readonly certificates: readonly CertificateValidity[];
  readonly problems: readonly Problem[];
}

/** What references to certificates are resolved with. */
export interface CertificateSources {
  readonly certificates: CertificateDirectory;
  readonly services: Pick<ServiceLookup, 'permits'>;
  /** Whether a Secret that is not there counts as no problem. */
  readonly certificatesAreAssumed: boolean;
}

/** A route without certificates of its own. */
export const NO_CERTIFICATES: ResolvedCertificates = { certificates: [], problems: [] };

/** Reads the references of a route. */
export function readCertificateRefs(route: Route): readonly CertificateRef[] {
  const own = namespaceOf(route);
  const refs = route.spec.tls?.certificateRefs ?? [];
  return refs.map(({ namespace = own, name }, index) => {
    const path = memberPath('spec.tls.certificateRefs', index);
    return { path, namespace, name, secret: `${namespace}/${name}` };
  });
}

/** Returns the references that a route of a namespace may have. No other Secret is watched for it. */
export function permittedRefs(
  refs: readonly CertificateRef[],
  own: string,
  services: Pick<ServiceLookup, 'permits'>,
): readonly CertificateRef[] {
  return refs.filter(
    ({ namespace, name }) =>
      namespace === own || services.permits(own, { kind: 'Secret', namespace, name }),
  );
}

/** Resolves the references of a route of a namespace for its host. */
export function resolveCertificates(
  refs: readonly CertificateRef[],
  { own, host }: { readonly own: string; readonly host: string },
  { certificates: directory, services, certificatesAreAssumed }: CertificateSources,
): ResolvedCertificates {
  const permitted = new Set(permittedRefs(refs, own, services));
  const resolved = refs.map((ref) => {
    if (!permitted.has(ref)) return { problem: notPermitted(ref, own) };
    const found = directory.find(ref.secret);
    if (found.kind === 'missing') return certificatesAreAssumed ? {} : { problem: missing(ref) };
    const problem = found.kind === 'problem' ? found.problem : undefined;
    const certificate = found.kind === 'problem' ? found.lastGood : found.certificate;
    if (certificate === undefined) return { problem };
    const { hosts } = certificate.content;
    if (!coversHost(hosts, host)) return { problem: problem ?? notForHost(ref, hosts, host) };
    return { problem, usable: validityOf(ref.secret, certificate) };
  });
  const problems = resolved.flatMap(({ problem }, index) =>
    problem === undefined ? [] : [{ path: refs[index]?.path ?? '', ...problem }],
  );
  return { certificates: distinct(resolved.flatMap(({ usable }) => usable ?? [])), problems };
}

function distinct(all: readonly CertificateValidity[]): readonly CertificateValidity[] {
  return [...new Map(all.map((one) => [one.secret, one])).values()];
}

/** Attack: namespaces that may not refer to a Secret do not learn whether it exists. */
function notPermitted({ namespace, secret }: CertificateRef, own: string): Omit<Problem, 'path'> {
  const message = `no ReferenceGrant in ${namespace} lets Routes of ${own} refer to Secret ${secret}`;
  return { reason: 'RefNotPermitted', message };
}

function missing({ secret }: CertificateRef): Omit<Problem, 'path'> {
  return { reason: 'SecretNotFound', message: `there is no Secret ${secret}` };
}

function notForHost(
  { secret }: CertificateRef,
  hosts: readonly string[],
  host: string,
): Omit<Problem, 'path'> {
  const message = `the certificate in Secret ${secret} is for ${listed(hosts)}, and not for ${host}`;
  return { reason: 'CertificateNotForHost', message };
}

const MOST_LISTED = 4;

function listed(hosts: readonly string[]): string {
  const first = hosts.slice(0, MOST_LISTED).join(', ');
  return hosts.length > MOST_LISTED
    ? `${first} and ${String(hosts.length - MOST_LISTED)} more names`
    : first;
}
