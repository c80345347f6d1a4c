package admin_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// mailserver is a command of the scripts. It starts a mail server with TLS that knows the user "lottery" with the
// password "right" and takes mail from noreply@example.com only, trusts its certificate, and stores its address in $MAIL.
func mailserver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: mailserver")
	}
	certificate, text := selfSigned(ts)
	ts.Check(os.WriteFile(ts.MkAbs("ca.pem"), text, 0o600))
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
	ts.Check(err)
	ts.Defer(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answerMail(conn)
		}
	}()
	ts.Setenv("SSL_CERT_FILE", ts.MkAbs("ca.pem"))
	ts.Setenv("MAIL", listener.Addr().String())
}

func answerMail(conn net.Conn) {
	defer conn.Close()
	want := base64.StdEncoding.EncodeToString([]byte("\x00lottery\x00right"))
	fmt.Fprint(conn, "220 test\r\n")
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch strings.ToUpper(word) {
		case "EHLO":
			fmt.Fprint(conn, "250-test\r\n250 AUTH PLAIN\r\n")
		case "AUTH":
			if rest == "PLAIN "+want {
				fmt.Fprint(conn, "235 welcome\r\n")
			} else {
				fmt.Fprint(conn, "535 5.7.8 wrong user or password\r\n")
			}
		case "QUIT":
			fmt.Fprint(conn, "221 bye\r\n")
			return
		case "MAIL":
			if strings.HasPrefix(rest, "FROM:<noreply@example.com>") {
				fmt.Fprint(conn, "250 ok\r\n")
			} else {
				fmt.Fprint(conn, "550 5.7.1 not your address\r\n")
			}
		case "RCPT", "DATA":
			fmt.Fprint(conn, "550 a doctor sends nothing\r\n")
		default:
			fmt.Fprint(conn, "250 ok\r\n")
		}
	}
}

func selfSigned(ts *testscript.TestScript) (tls.Certificate, []byte) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	ts.Check(err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
