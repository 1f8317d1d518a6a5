require "openssl"

def genuine?(secret, id, timestamp, signatures, body)
  return false unless id && timestamp && signatures
  return false unless timestamp.match?(/\A\d+\z/) && (Time.now.to_i - timestamp.to_i).abs <= 300
  key = secret.delete_prefix("whsec_").unpack1("m")
  digest = OpenSSL::HMAC.digest("SHA256", key, "#{id}.#{timestamp}.".b + body.b)
  expected = "v1,#{[digest].pack("m0")}"
  signatures.split(" ").any? { |signature| OpenSSL.secure_compare(expected, signature) }
end
