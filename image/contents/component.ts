/** A part of the image that others made. */
export interface Component {
  readonly kind: 'npm' | 'deb' | 'program';
  readonly name: string;
  readonly version: string;
  /** Its licence, as an SPDX expression. */
  readonly license: string;
  /** Names it among all packages of the world (package-url specification). */
  readonly purl: string;
  /** What vulnerabilities are filed under, where that is not the purl. */
  readonly cpe?: string;
  /** The SHA-512 of its archive, in hexadecimal digits. */
  readonly sha512?: string;
  /** The texts of its licence and notices. Other kinds of components have theirs in files of their own. */
  readonly texts?: readonly string[];
}
