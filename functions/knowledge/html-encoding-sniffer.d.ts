/** The package has no types of its own, and those of others are of an older version. */
declare module 'html-encoding-sniffer' {
  /**
   * @returns the encoding's name in the Encoding standard, or the default where nothing names one that is
   * known
   */
  export default function sniffEncoding<Default extends string | null>(
    bytes: Uint8Array,
    options: { xml?: boolean; maxPrescanBytes?: number; defaultEncoding: Default },
  ): string | Default;
}
