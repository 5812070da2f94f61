import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

import { derBitString, derObjectId, derSequence, derTime, derValue } from './der.ts';

const COMMON_NAME = '550403';
const ECDSA_WITH_SHA256 = '2a8648ce3d040302';
const SUBJECT_ALTERNATIVE_NAME = '551d11';
const EXTENDED_KEY_USAGE = '551d25';
const SERVER_AUTHENTICATION = '2b06010505070301';
const SERIAL_BYTES = 16;

/** A certificate and its private key, both PEM. */
export interface CertificateAndKey {
  readonly certificate: string;
  readonly privateKey: string;
}

/**
 * Makes a certificate of a server that is its own authority (P-256). It can sign no other certificate.
 */
export function makeSelfSignedCertificate({
  name,
  hosts,
  validFrom,
  validTo,
}: {
  /** The common name. It has no meaning: clients look at `hosts`. */
  readonly name: string;
  readonly hosts: readonly string[];
  readonly validFrom: Date;
  readonly validTo: Date;
}): CertificateAndKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = derSequence(derObjectId(ECDSA_WITH_SHA256));
  const subject = nameOf(name);
  // RFC 5280, section 4.1.
  const toBeSigned = derSequence(
    derValue(0xa0, derValue(0x02, Buffer.from([2]))),
    derValue(0x02, serialNumber()),
    algorithm,
    subject,
    derSequence(derTime(validFrom), derTime(validTo)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    derValue(0xa3, derSequence(hostsExtension(hosts), usageExtension())),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  return {
    certificate: pem(derSequence(toBeSigned, algorithm, derBitString(signature))),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
}

/** A positive number without leading zeros. */
function serialNumber(): Buffer {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes[0] = 1;
  return bytes;
}

function nameOf(commonName: string): Buffer {
  const value = derValue(0x0c, Buffer.from(commonName));
  return derSequence(derValue(0x31, derSequence(derObjectId(COMMON_NAME), value)));
}

function hostsExtension(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) => derValue(0x82, Buffer.from(host)));
  return extension(SUBJECT_ALTERNATIVE_NAME, derSequence(...names));
}

function usageExtension(): Buffer {
  return extension(EXTENDED_KEY_USAGE, derSequence(derObjectId(SERVER_AUTHENTICATION)));
}

function extension(id: string, value: Buffer): Buffer {
  return derSequence(derObjectId(id), derValue(0x04, value));
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
