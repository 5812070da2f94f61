import type { SignInRecord } from '../records/sign-in-record.ts';
import type { Renewals, Versioned } from './renewals.ts';

/** A sign-in and its version, which rises with every update. */
export interface VersionedSignIn extends Versioned {
  readonly signIn: SignInRecord;
}

/** Sign-ins by id. A sign-in outlives its sessions: it lives as long as the grants made from it. */
export interface SignInStore extends Renewals<string, VersionedSignIn> {
  create(signIn: SignInRecord, ttlSeconds: number): Promise<void>;
  /** Null if unknown, expired or ended. */
  get(id: string): Promise<VersionedSignIn | null>;
  /** Extends the sign-in's lifetime to at least `ttlSeconds` from now. */
  extend(id: string, ttlSeconds: number): Promise<void>;
  /** Ends the sign-in: no session can be made from it. */
  end(id: string): Promise<void>;
  /**
   * Replaces `version` of the sign-in. Returns the new version; null, without a change, if the
   * version has changed or the sign-in is gone. Lifetime and claim stay the same.
   */
  update(signIn: SignInRecord, version: number): Promise<number | null>;
}
