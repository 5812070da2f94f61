import type { CertificateValidity } from '../compile/certificates/certificate-validity.ts';
import type { RouteStatus } from '../kubernetes/stored-resources.ts';
import { wholeSeconds, type ConditionState } from './condition.ts';

/** The certificates of a resource, as in its status. */
type CertificateStatus = NonNullable<RouteStatus['certificates']>[number];

const DAY_SECONDS = 24 * 60 * 60;
const MS_PER_SECOND = 1000;
/** Longer than people take to notice, and shorter than what remains when cert-manager renews. */
const SOON_SECONDS = 14 * DAY_SECONDS;
/** Certificates that live for a few days only would always expire soon. */
const SOON_SHARE = 1 / 6;

/** Returns the entries of `status.certificates`. */
export function certificateStatuses(
  certificates: readonly CertificateValidity[] = [],
): readonly CertificateStatus[] {
  return certificates.map(({ secret, notAfter }) => ({ secret, notAfter: timeOf(notAfter) }));
}

/**
 * The state of condition `CertificatesValid`; undefined for resources without certificates. A certificate that has
 * expired is served all the same: clients that refuse it would refuse a connection without one too.
 */
export function certificatesState(
  certificates: readonly CertificateValidity[] | undefined,
  now: Date,
): ConditionState | undefined {
  if (certificates === undefined || certificates.length === 0) return undefined;
  const seconds = now.getTime() / MS_PER_SECOND;
  const expired = certificates.filter(({ notAfter }) => notAfter <= seconds);
  if (expired.length > 0) {
    const message = `${inWords(expired, 'expired on')}; clients refuse it, and it is served all the same.`;
    return { status: 'False', reason: 'CertificateExpired', message };
  }
  const soon = certificates.filter((one) => one.notAfter - seconds < soonSeconds(one));
  if (soon.length > 0) {
    const message = `${inWords(soon, 'expires on')}, and nothing has renewed it.`;
    return { status: 'False', reason: 'CertificateExpiresSoon', message };
  }
  const first = certificates.reduce((one, other) => (other.notAfter < one.notAfter ? other : one));
  const message = `${inWords([first], 'is valid until')}.`;
  return { status: 'True', reason: 'CertificatesValid', message };
}

function soonSeconds({ notBefore, notAfter }: CertificateValidity): number {
  return Math.min(SOON_SECONDS, (notAfter - notBefore) * SOON_SHARE);
}

function inWords(certificates: readonly CertificateValidity[], verb: string): string {
  const each = certificates.map(
    ({ secret, notAfter }) => `The certificate in Secret ${secret} ${verb} ${timeOf(notAfter)}`,
  );
  return each.join('. ');
}

function timeOf(seconds: number): string {
  return wholeSeconds(new Date(seconds * MS_PER_SECOND));
}
