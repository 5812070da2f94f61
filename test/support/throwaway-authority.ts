import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

const FIRST_DAY = new Date('2020-01-01T00:00:00Z');
const LAST_DAY = new Date('2049-12-31T23:59:59Z');

/** A certificate and its private key, both PEM. */
export interface IssuedCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Options of issuing a server certificate. */
export interface IssueOptions {
  /** 2049 by default. */
  readonly validTo?: Date;
  /** 2020 by default. */
  readonly validFrom?: Date;
  /** A new EC key by default. */
  readonly keys?: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  /** The extended key usage that it is limited to: 1 is servers, and 2 is clients. */
  readonly purpose?: 1 | 2;
}

/** A certificate authority that lives for one test. */
export interface ThrowawayAuthority {
  /** Its certificate in PEM, which clients trust. */
  readonly ca: string;
  /** Issues a server certificate for names and addresses. */
  issue(hosts: readonly string[], options?: IssueOptions): IssuedCertificate;
  /** Issues a client certificate for a common name and an organization. */
  issueClient(commonName: string, organization: string): IssuedCertificate;
}

/** Makes a certificate authority in hand-written X.509, so that no tool has to be installed. */
export function createThrowawayAuthority(): ThrowawayAuthority {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuerName = name('Gatehouse throwaway authority');
  const issue = (
    subject: Buffer,
    publicKey: KeyObject,
    { extensions, validTo = LAST_DAY, validFrom = FIRST_DAY }: LeafContent,
  ): string =>
    certificate(
      { issuer: issuerName, subject, publicKey, extensions, validFrom, validTo },
      authority.privateKey,
    );
  const basicConstraints = extension('551d13', sequence(BOOLEAN_TRUE), { critical: true });
  const issueLeaf = (subject: Buffer, content: LeafContent): IssuedCertificate => {
    const leaf = content.keys ?? generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return {
      cert: issue(subject, leaf.publicKey, content),
      key: leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }),
    };
  };
  return {
    ca: issue(issuerName, authority.publicKey, { extensions: [basicConstraints] }),
    issue: (hosts, { purpose, ...options } = {}) => {
      const names = extension('551d11', sequence(...hosts.map(alternativeName)));
      const usage = oid(`2b0601050507030${String(purpose)}`);
      const usages = purpose === undefined ? [] : [extension('551d25', sequence(usage))];
      const extensions = [...(hosts.length > 0 ? [names] : []), ...usages];
      return issueLeaf(name('Gatehouse test server'), { extensions, ...options });
    },
    issueClient: (commonName, organization) =>
      issueLeaf(name(commonName, organization), { extensions: [] }),
  };
}

type LeafContent = Omit<IssueOptions, 'purpose'> & { readonly extensions: readonly Buffer[] };

interface CertificateContent {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly validFrom: Date;
  readonly validTo: Date;
}

/** RFC 5280, section 4.1. */
function certificate(
  { issuer, subject, publicKey, extensions, validFrom, validTo }: CertificateContent,
  signingKey: KeyObject,
): string {
  const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
  const serial = randomBytes(16);
  serial[0] = 1;
  const toBeSigned = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(serial),
    ecdsaWithSha256,
    issuer,
    sequence(utcTime(validFrom), utcTime(validTo)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', toBeSigned, signingKey);
  const der = sequence(toBeSigned, ecdsaWithSha256, bitString(signature));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function name(commonName: string, organization?: string): Buffer {
  const attribute = (id: string, value: string): Buffer =>
    tagged(0x31, sequence(oid(id), tagged(0x0c, Buffer.from(value))));
  return sequence(
    ...(organization === undefined ? [] : [attribute('55040a', organization)]),
    attribute('550403', commonName),
  );
}

/** Encodes an IPv4 address as bytes, and a name as ASCII. */
function alternativeName(host: string): Buffer {
  if (isIP(host) === 0) return tagged(0x82, Buffer.from(host));
  return tagged(0x87, Buffer.from(host.split('.').map(Number)));
}

function extension(id: string, value: Buffer, { critical = false } = {}): Buffer {
  return sequence(oid(id), ...(critical ? [BOOLEAN_TRUE] : []), tagged(0x04, value));
}

const BOOLEAN_TRUE = Buffer.from([0x01, 0x01, 0xff]);

function sequence(...members: readonly Buffer[]): Buffer {
  return tagged(0x30, ...members);
}

function oid(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'));
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes);
}

/** Encodes a time from 1950 to 2049, whose year has two digits. */
function utcTime(time: Date): Buffer {
  const digits = time.toISOString().replace(/\.\d+|\D/g, '');
  return tagged(0x17, Buffer.from(`${digits.slice(2)}Z`));
}

function bitString(bytes: Buffer): Buffer {
  return tagged(0x03, Buffer.from([0]), bytes);
}

/** Tag, length and content (X.690, section 8.1). */
function tagged(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), lengthOf(body), body]);
}

function lengthOf({ length }: Buffer): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  if (length < 0x100) return Buffer.from([0x81, length]);
  return Buffer.from([0x82, length >> 8, length & 0xff]);
}
